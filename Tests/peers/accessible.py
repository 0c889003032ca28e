#!/usr/bin/env python3
"""Whether people can read and use pages: headless Chromium, see browser.py, in both colour schemes and in forced
colours, 360 and 1280 pixels wide, with text at its size and at twice that, and as a screen reader gets them.

    accessible.py [--walk ORIGIN --route R --return /PATH --strong /PATH --elsewhere URL] [--screenshots DIR]
                  [--user U] [--password P] [URL...]

Looks at each URL, and at the pages on the way through a sign-in. Each page is held to what WCAG 2.2 (A and AA) says
that can be computed: contrast of text (1.4.3), of fields and focus (1.4.11, 2.4.11), order and visibility of focus by
Tab (2.4.3, 2.4.7), names of controls (4.1.2, 3.3.2), language, title, headings and landmarks (3.1.1, 2.4.2, 1.3.1),
size of targets (2.5.8), no sideways scrolling at 320 pixels (1.4.10), nothing cut off or on top of another (1.4.4). The
browser's accessibility tree has every visible word in the page's order, and landmarks, headings, controls and states as
READING says. Ends with 0 where all of it holds.
"""

import argparse
import json
import os
import tempfile
import textwrap

from browser import Browser, check

TAB = "\ue004"

# What every look needs: colours as numbers, what is painted behind an element, contrast as WCAG computes it.
TOOLS = r"""
const parse = text => {
  const n = text.match(/[\d.]+/g).map(Number);
  return {r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1};
};
const over = (top, under) => ({
  r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a),
  b: top.b * top.a + under.b * (1 - top.a), a: 1});
const luminance = c => {
  const [r, g, b] = [c.r, c.g, c.b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b };
const contrast = (one, other) => {
  const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
};
const canvas = () => {
  const probe = document.createElement('i'); probe.style.color = 'Canvas'; document.body.append(probe);
  const color = parse(getComputedStyle(probe).color); probe.remove(); return color };
const behind = element => { const layers = [];
  for (let e = element; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.a > 0) layers.push(c);
    if (c.a == 1) break;
  }
  return layers.reverse().reduce((under, top) => over(top, under), canvas()) };
const visible = element => { const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility != 'hidden' };
const words = element => (element.innerText || element.value || element.textContent || '').trim().slice(0, 40);
const focusable = () => [
  ...document.querySelectorAll('a[href],button,summary,input:not([type=hidden]),select,textarea,[tabindex]')]
  .filter(e => !e.disabled && e.tabIndex >= 0 && visible(e))
  .filter(e => e.type != 'radio' || e.checked || !document.querySelector(`input[name="${e.name}"]:checked`));
const name = element => (
  element.labels && element.labels.length ? [...element.labels].map(l => l.innerText).join(' ') : '')
  || element.getAttribute('aria-label') || (element.matches('a,button') ? element.innerText : '') || '';
"""

STRUCTURE = TOOLS + r"""
const wrong = [];
const say = (holds, what) => { if (!holds) wrong.push(what) };
say(document.documentElement.lang.length >= 2, 'no language');
say(document.title.trim().length > 2, 'no title');
const headings = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')];
say(headings.filter(h => h.tagName == 'H1').length == 1, 'not one h1');
say(headings[0] && headings[0].tagName == 'H1', 'h1 is not the first heading');
headings.slice(1).forEach((h, i) =>
  say(h.tagName[1] - headings[i].tagName[1] <= 1, 'a level of headings is left out: ' + words(h)));
say(document.querySelectorAll('main').length == 1, 'not one main');
say(document.querySelector('main h1'), 'h1 is not in main');
say(document.querySelector('meta[name=viewport]'), 'no viewport');
for (const e of document.body.querySelectorAll(':scope > *'))
  say(e.matches('main,header,footer,nav,aside'), 'text outside every landmark: ' + words(e));
for (const e of document.querySelectorAll('input:not([type=hidden]),select,textarea,a[href],button')) {
  say(name(e).trim(), 'a control without a name: ' + e.outerHTML.slice(0, 80));
  const target = e.labels && e.labels[0] && e.labels[0].contains(e) ? e.labels[0] : e;
  const box = target.getBoundingClientRect();
  if (visible(e) && getComputedStyle(e).display != 'inline')
    say(box.width >= 24 && box.height >= 24, 'a small target: ' + words(e));
}
for (const e of document.querySelectorAll('input[type=radio]'))
  say(e.closest('fieldset') && e.closest('fieldset').querySelector('legend'), 'choice without a legend');
for (const e of document.querySelectorAll('input[type=password]'))
  say(/current-password/.test(e.autocomplete), 'a password that is not said to be one');
for (const e of document.querySelectorAll('img')) say(e.hasAttribute('alt'), 'picture without words');
for (const e of document.querySelectorAll('.problem'))
  say(document.querySelector('[role=alert]'), 'a problem that is not announced');
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
say(new Set(ids).size == ids.length, 'an id twice');
for (const e of document.querySelectorAll('[tabindex]')) say(e.tabIndex <= 0, 'an order of its own');
return wrong;
"""

CONTRAST = TOOLS + r"""
const wrong = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let least = 21, count = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.closest('style,script') || !visible(element)) continue;
  const style = getComputedStyle(element), back = behind(element);
  const ratio = contrast(over(parse(style.color), back), back);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  count++;
  least = Math.min(least, ratio);
  if (ratio < (large ? 3 : 4.5)) wrong.push(`text ${ratio.toFixed(2)}: ${words(element)}`);
}
for (const e of document.querySelectorAll('input:not([type=hidden]):not([type=radio]),select,textarea')) {
  const ratio = contrast(parse(getComputedStyle(e).borderTopColor), behind(e.parentElement));
  if (ratio < 3) wrong.push(`edge of a field ${ratio.toFixed(2)}: ${name(e)}`);
  const text = contrast(parse(getComputedStyle(e).color), behind(e));
  if (text < 4.5) wrong.push(`text of a field ${text.toFixed(2)}: ${name(e)}`);
}
const page = behind(document.body);
return {wrong, least, count, page: luminance(page)};
"""

# What forced colours leave: edges in place of backgrounds.
FORCED = TOOLS + r"""
const wrong = [];
if (!matchMedia('(forced-colors: active)').matches) wrong.push('no forced colours');
for (const e of document.querySelectorAll(
    'button,a.button,input:not([type=hidden]):not([type=radio]),main,.note,.problem')) {
  const style = getComputedStyle(e);
  if (!(parseFloat(style.borderTopWidth) >= 1) || style.borderTopStyle == 'none') wrong.push('no edge: ' + words(e));
}
return wrong;
"""

# The place of everything, at the page's width and size of text.
LAYOUT = TOOLS + r"""
const wrong = [], width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width)
  wrong.push(`it scrolls sideways, by ${document.documentElement.scrollWidth - width}`);
const card = (document.querySelector('main') || document.querySelector('h1')).getBoundingClientRect();
const footer = document.querySelector('footer');
if (footer && footer.getBoundingClientRect().width > card.width + 0.5) wrong.push('the footer is wider than the card');
if (card.width > 30 * parseFloat(getComputedStyle(document.documentElement).fontSize) + 0.5)
  wrong.push('the card is too wide');
const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (!node.data.trim() || node.parentElement.closest('style,script')
      || !node.parentElement.checkVisibility()) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const box of range.getClientRects()) {
    if (box.width < 1 || box.height < 1) continue;
    if (box.left < -0.5 || box.right > width + 0.5) wrong.push('cut off: ' + node.data.trim().slice(0, 40));
    const frame = (node.parentElement.closest('main,footer') || document.body).getBoundingClientRect();
    if (box.left < frame.left - 0.5 || box.right > frame.right + 0.5)
      wrong.push('outside its frame: ' + node.data.trim().slice(0, 40));
    for (const other of texts)
      if (other.node != node && Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 1
        && Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top)
          > 0.35 * Math.min(box.height, other.box.height))
        wrong.push(`'${node.data.trim().slice(0, 30)}' is on '${other.node.data.trim().slice(0, 30)}'`);
    texts.push({node, box});
  }
}
return wrong;
"""

# What a screen reader says of pages whose words are always the same.
READING = {
    "sign in": """
        main
          heading 1 "Sign in"
          "desk wants to use my-orders on behalf of alice@contoso.example."
          heading 2 "What it asks for"
          list
            "Orders.Read at api://orders"
          "You are sent to localhost to sign in, and come back here."
          button "Continue"
          group
            disclosure "Details" collapsed
        contentinfo
          "bearer-proxy"
        """,
    "denied": """
        main
          heading 1 "Sign-in cancelled"
          alert
            "The sign-in was declined, so nothing was changed."
          "Begin again if that was not what you wanted."
          link "Begin again"
          group
            disclosure "Details" collapsed
        contentinfo
          "bearer-proxy"
        """,
    "done": """
        main
          heading 1 "You are signed in"
          status
            "alice@contoso.example is signed in, and my-orders can be used."
          "You can close this page."
        contentinfo
          "bearer-proxy"
        """,
}

EXPECTED = TOOLS + "return focusable().map(e => e.outerHTML.slice(0, 120))"

FOCUSED = TOOLS + r"""
const e = document.activeElement;
if (!e || e == document.body || e == document.documentElement) return null;
const style = getComputedStyle(e), box = e.getBoundingClientRect(), back = behind(e.parentElement);
const ring = style.outlineStyle == 'auto' ? 21 : contrast(over(parse(style.outlineColor), back), back);
return {element: e.outerHTML.slice(0, 120), seen: e.matches(':focus-visible') && style.outlineStyle != 'none'
  && parseFloat(style.outlineWidth) >= 2 || style.outlineStyle == 'auto', ring,
  inside: box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth};
"""


class Looker:
    """Looks at the page that the browser is at."""

    def __init__(self, browser, folder):
        self.browser, self.folder, self.wrong, self.seen = browser, folder, [], []

    def devtools(self, command, **parameters):
        return self.browser.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def scheme(self, name, forced="none"):
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}, {"name": "forced-colors", "value": forced}])

    def look(self, kind):
        browser = self.browser
        self.seen.append(kind)
        before = len(self.wrong)

        def say(what):
            self.wrong += ["%s: %s" % (kind, one) for one in what]

        say(browser.count(STRUCTURE))
        for scheme in ("light", "dark"):
            self.scheme(scheme)
            found = browser.count(CONTRAST)
            say("%s: %s" % (scheme, one) for one in found["wrong"])
            if found["count"] == 0:
                say(["no text"])
            if (found["page"] < 0.5) != (scheme == "dark"):
                say(["%s: the page is not" % scheme])
            say("%s: %s" % (scheme, one) for one in self.tab())
            browser.picture(self.folder, "accessible-%s-%s" % (kind.replace(" ", "-"), scheme))
            print("%s, %s: %d texts, contrast from %.1f" % (kind, scheme, found["count"], found["least"]), flush=True)
        for scheme in ("light", "dark"):
            self.scheme(scheme, forced="active")
            found = browser.count(FORCED) + browser.count(CONTRAST)["wrong"]
            say("forced colours, %s: %s" % (scheme, one) for one in found)
            if scheme == "light":
                say("forced colours: %s" % one for one in self.tab())
            browser.picture(self.folder, "accessible-%s-forced-%s" % (kind.replace(" ", "-"), scheme))
        self.scheme("light")
        for width, size in ((320, 100), (360, 100), (360, 200), (1280, 100), (1280, 200)):
            self.devtools(
                "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
            browser.count("document.documentElement.style.fontSize = '%d%%'" % size)
            # The details are as much of the page as the rest.
            for opens in ("false", "true"):
                browser.count("document.querySelectorAll('details').forEach(one => one.open = %s)" % opens)
                say("%d pixels, text at %d %%: %s" % (width, size, one) for one in browser.count(LAYOUT))
            browser.picture(self.folder, "accessible-%s-%d-%d" % (kind.replace(" ", "-"), width, size))
        browser.count("document.documentElement.style.fontSize = '';"
                      "document.querySelectorAll('details').forEach(one => one.open = false)")
        self.devtools("Emulation.clearDeviceMetricsOverride")
        say(self.read(kind))
        if len(self.wrong) == before:
            print("ok: " + kind, flush=True)

    def read(self, kind):
        """Reads the page as a screen reader does."""
        wrong = []
        nodes = {node["nodeId"]: node for node in self.devtools("Accessibility.getFullAXTree")["nodes"]}
        lines, said = [], []

        def value(node, name):
            return node.get(name, {}).get("value", "")

        def states(node):
            found = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
            return [word for word, holds in (
                ("required", found.get("required")),
                ("invalid", found.get("invalid") == "true"), ("checked", found.get("checked") == "true"),
                ("collapsed", found.get("expanded") is False),
                ("expanded", found.get("expanded") is True)) if holds], found

        def text(node):
            """The words in a node that has nothing but words in it; None where there is more."""
            role, name = value(node, "role"), value(node, "name")
            if role == "StaticText":
                return name
            if role in ("InlineTextBox", "ListMarker", "LineBreak"):
                return ""
            if not node.get("ignored") and role not in (
                    "paragraph", "strong", "emphasis", "code", "generic", "none", "listitem",
                    "small", "mark"):
                return None
            parts = [text(nodes[child]) for child in node.get("childIds", []) if child in nodes]
            return None if None in parts else "".join(parts)

        def walk(node, depth):
            role, name = value(node, "role"), value(node, "name")
            words = text(node)
            if words is not None:
                words = " ".join(words.split())
                if words:
                    lines.append("  " * depth + '"%s"' % words)
                    said.append(words)
                return
            own = not node.get("ignored") and role not in (
                "RootWebArea", "paragraph", "generic", "none", "form", "Section")
            if own:
                shown, found = states(node)
                role = {"DisclosureTriangle": "disclosure", "LabelText": "label", "Details": "group"}.get(role, role)
                level = " %d" % found["level"] if "level" in found and role == "heading" else ""
                lines.append(" ".join(["  " * depth + role + level] + (['"%s"' % name] if name else []) + shown))
                if role in ("heading", "button", "link", "disclosure", "radio"):
                    said.append(name)
                if role in ("heading", "button", "link", "disclosure", "textbox", "radio") and not name.strip():
                    wrong.append("a screen reader has no name for a " + role)
                if role == "textbox" and "invalid" in shown and not value(node, "description"):
                    wrong.append("a screen reader does not say what is wrong with: " + name)
                # What is typed is not among the page's words.
                if role in ("heading", "button", "link", "disclosure", "radio", "textbox"):
                    return
            children = [nodes[child] for child in node.get("childIds", []) if child in nodes]
            if role in ("alert", "status") and None not in map(text, children):
                # A paragraph with a role.
                lines.append("  " * (depth + 1) + '"%s"' % "".join(map(text, children)))
                said.append("".join(map(text, children)))
                return
            for child in children:
                walk(child, depth + own)

        root = next(node for node in nodes.values() if "parentId" not in node)
        if not value(root, "name").strip() or value(root, "name") != self.browser.count("return document.title"):
            wrong.append("a screen reader has no title for the page")
        walk(root, 0)
        roles = [line.split()[0] for line in lines]
        for role in ("main", "contentinfo"):
            if roles.count(role) != 1:
                wrong.append("a screen reader finds %d of: %s" % (roles.count(role), role))
        if "radio" in roles and not any(line.strip().startswith(('group "', 'radiogroup "')) for line in lines):
            wrong.append("a screen reader does not say what is chosen")
        for mark, role in ((".problem[role=alert],p[role=alert]", "alert"), ("[role=status]", "status")):
            if self.browser.count("return document.querySelector('%s') != null" % mark) and role not in roles:
                wrong.append("a screen reader announces no " + role)
        # Everything that can be seen, once, and in the same order.
        seen = "".join(self.browser.count("return document.body.innerText").split())
        if "".join("".join(said).split()) != seen:
            wrong.append("a screen reader reads %s for %s" % (said, seen))
        if kind in READING and lines != textwrap.dedent(READING[kind]).strip().split("\n"):
            wrong.append("a screen reader reads:\n%s" % "\n".join(lines))
        if self.folder:
            with open(os.path.join(self.folder, "accessible-%s.txt" % kind.replace(" ", "-")), "w") as file:
                file.write("\n".join(lines) + "\n")
        return wrong

    def tab(self):
        """Goes around the page by Tab alone."""
        wrong, order = [], []
        expected = self.browser.count(EXPECTED)
        for _ in range(len(expected) + 3):
            self.browser.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": TAB}, {"type": "keyUp", "value": TAB}]}]})
            found = self.browser.count(FOCUSED)
            if found is None:
                continue
            if found["element"] in order:
                break
            order.append(found["element"])
            if not found["seen"]:
                wrong.append("focus cannot be seen: " + found["element"])
            if found["ring"] < 3:
                wrong.append("focus contrast %.2f: %s" % (found["ring"], found["element"]))
            if not found["inside"]:
                wrong.append("focus out of sight: " + found["element"])
        # The first one does not matter: after the last comes the first.
        if order and expected and order[0] in expected:
            begin = expected.index(order[0])
            expected = expected[begin:] + expected[:begin]
        if order != expected:
            wrong.append("Tab does not go %s but %s" % (expected, order))
        return wrong


def walk(browser, looker, options):
    """The pages on the way."""
    link = "%s/.bearer/sign-in?route=%s" % (options.walk, options.route)
    back = "&return=" + options.back
    browser.go(options.walk + options.back)
    looker.look("refused")
    browser.go(link)
    looker.look("sign in")
    browser.press("button")
    looker.look("provider sign in")
    browser.type("#password", "wrong")
    browser.press("button.main")
    looker.look("provider wrong password")
    browser.type("#password", options.password)
    browser.press("button.main")
    looker.look("provider consent")
    browser.press("button[value=decline]")
    looker.look("denied")
    browser.press("a.button")
    browser.press("button")
    browser.press("button[value=accept]")
    check(browser.heading == "You are signed in", "a sign-in without a way back ends with a page", browser.text("body"))
    looker.look("done")
    answer = browser.url
    browser.go(answer)
    looker.look("used")
    browser.go(options.walk + "/.bearer/callback?code=x&state=invented")
    looker.look("unknown")
    browser.go(options.elsewhere)
    browser.count(
        "const link = document.createElement('a'); link.href = %s; link.textContent = 'x'; document.body.append(link)"
        % json.dumps(link + back)
    )
    browser.press("a")
    browser.press("button")
    check(browser.find("a.button"), "a link on another site's page asks before it goes on", browser.text("body"))
    looker.look("done, and on")
    browser.go(options.walk + options.strong)
    looker.look("step up")
    browser.press("button")
    looker.look("provider one-time code")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walk", metavar="ORIGIN")
    parser.add_argument("--route")
    parser.add_argument("--return", dest="back")
    parser.add_argument("--elsewhere", metavar="URL")
    parser.add_argument("--strong", metavar="PATH")
    parser.add_argument("--screenshots")
    parser.add_argument("--user", default="alice@contoso.example")
    parser.add_argument("--password", default="tulip-anchor-42")
    parser.add_argument("pages", nargs="*", metavar="KIND=URL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        try:
            looker = Looker(browser, options.screenshots)
            if options.walk:
                walk(browser, looker, options)
            for page in options.pages:
                kind, url = page.split("=", 1)
                browser.go(url)
                looker.look(kind)
        finally:
            browser.end()
    check(
        not looker.wrong, "%d kinds of pages can be read and used" % len(looker.seen), "\n  ".join([""] + looker.wrong)
    )


if __name__ == "__main__":
    main()
