"""Every way that is known in which a page makes a browser send a request without a person's click. TO stands for the
address.

MARKUP is one page, each of SCRIPTS is run on one page, and each of pages() is a page of its own: its fields and
its text. Three names that are no fields' say what else its server does: `103` (early hints), `issuer` (its certificate
says where its issuer is to be had) and `exchange` (the page is a signed exchange, which says where its certificate is).
SILENT says why nothing is to be seen of a way in headless Chromium 156; these are tried all the same.
"""

import json

MARKUP = {
    "img": '<img src="TO">',
    "img-no-referrer": '<img src="TO" referrerpolicy="no-referrer">',
    "img-srcset": '<img srcset="TO 1x">',
    "img-crossorigin": '<img crossorigin src="TO">',
    "img-attribution": '<img attributionsrc="TO">',
    "picture": '<picture><source srcset="TO"><img></picture>',
    "input-image": '<input type="image" src="TO">',
    "background": '<table background="TO"><tr><td>x</table>',
    "video": '<video src="TO" preload="auto"></video>',
    "video-poster": '<video poster="TO"></video>',
    "audio": '<audio src="TO" preload="auto"></audio>',
    "track": '<video crossorigin><track default kind="subtitles" src="TO"></video>',
    "embed": '<embed src="TO">',
    "object": '<object data="TO"></object>',
    "iframe": '<iframe src="TO"></iframe>',
    "iframe-sandbox": '<iframe sandbox src="TO"></iframe>',
    "iframe-no-referrer": '<iframe referrerpolicy="no-referrer" src="TO"></iframe>',
    "iframe-srcdoc": '<iframe srcdoc="&lt;img src=&quot;TO&quot;&gt;"></iframe>',
    "iframe-data": '<iframe src="data:text/html,&lt;img src=&quot;TO&quot;&gt;"></iframe>',
    "script": '<script src="TO"></script>',
    "script-module": '<script type="module" src="TO"></script>',
    "script-import": '<script type="module">import "TO"</script>',
    "script-importmap": '<script type="importmap" src="TO"></script>',
    "script-webbundle": '<script type="webbundle">{"source": "TO", "resources": ["TO/inner"]}</script>',
    "css": '<link rel="stylesheet" href="TO">',
    "css-import": '<style>@import url("TO");</style>',
    "css-background": '<div style="background: url(TO)">x</div>',
    "css-font": '<style>@font-face { font-family: f; src: url("TO") } p.f { font-family: f }</style>'
                '<p class="f">text</p>',
    "css-cursor": '<div style="cursor: url(TO), auto">x</div>',
    "css-mask": '<div style="mask-image: url(TO)">x</div>',
    "css-filter": '<div style="filter: url(TO#f)">x</div>',
    "svg-image": '<svg><image href="TO" width="9" height="9"/></svg>',
    "svg-use": '<svg><use href="TO#a"/></svg>',
    "svg-feimage": '<svg width="9" height="9"><filter id="g"><feImage href="TO"/></filter>'
                   '<rect filter="url(#g)" width="9" height="9"/></svg>',
    "link-preload": '<link rel="preload" as="fetch" crossorigin href="TO">',
    "link-preload-image": '<link rel="preload" as="image" href="TO">',
    "link-modulepreload": '<link rel="modulepreload" href="TO">',
    "link-prefetch": '<link rel="prefetch" href="TO">',
    "link-prefetch-document": '<link rel="prefetch" as="document" href="TO">',
    "link-prerender": '<link rel="prerender" href="TO">',
    "link-preconnect": '<link rel="preconnect" href="TO">',
    "link-dictionary": '<link rel="compression-dictionary" href="TO">',
    "link-search": '<link rel="search" type="application/opensearchdescription+xml" title="t" href="TO">',
}

FRAME = ("const frame = document.createElement('iframe'); frame.name = String(Math.random()); "
         "document.body.append(frame); ")
FORM = FRAME + ("const form = document.createElement('form'); form.target = frame.name; document.body.append(form); "
                "form.action = to; ")
LINK = "const link = document.createElement('a'); document.body.append(link); "

SCRIPTS = {
    "fetch": "fetch(to, {mode: 'no-cors'})",
    "fetch-cors": "fetch(to)",
    "fetch-no-referrer": "fetch(to, {mode: 'no-cors', referrerPolicy: 'no-referrer'})",
    "fetch-post": "fetch(to, {method: 'POST', mode: 'no-cors', body: 'x=1'})",
    "fetch-preflight": "fetch(to, {method: 'DELETE', headers: {'X-Custom': '1'}})",
    "fetch-credentials": "fetch(to, {mode: 'no-cors', credentials: 'include', cache: 'no-store'})",
    "fetch-keepalive": "fetch(to, {mode: 'no-cors', keepalive: true})",
    "fetch-later": "fetchLater(to, {activateAfter: 0})",
    "fetch-disguised": "fetch(to, {mode: 'no-cors', referrerPolicy: 'no-referrer', headers: {'User-Agent': 'curl/8', "
                       "'Accept-Language': '*', 'Sec-Fetch-Site': 'same-origin'}})",
    "xhr": "const request = new XMLHttpRequest(); request.open('GET', to); request.send()",
    "beacon": "navigator.sendBeacon(to, 'x=1')",
    "events": "new EventSource(to)",
    "websocket": "new WebSocket(to.replace(/^http/, 'ws'))",
    "webtransport": "new WebTransport(to.replace(/^http:/, 'https:'))",
    "ice": "const {hostname, port} = new URL(to); "
           "const peer = new RTCPeerConnection({iceTransportPolicy: 'relay', iceServers: "
           "[{urls: `turn:${hostname}:${port}?transport=tcp`, username: 'a', credential: 'b'}]}); "
           "peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer))",
    "import": "import(to)",
    "import-json": "import(to, {with: {type: 'json'}})",
    "worker": "new Worker(to)",
    "worker-shared": "new SharedWorker(to)",
    "worker-import": "new Worker(URL.createObjectURL(new Blob([`importScripts(${JSON.stringify(to)})`])))",
    "worker-fetch": "new Worker(URL.createObjectURL(new Blob([`fetch(${JSON.stringify(to)}, {mode: 'no-cors'})`])))",
    "worklet": "CSS.paintWorklet.addModule(to)",
    "worklet-audio": "new AudioContext().audioWorklet.addModule(to)",
    "service-worker": "navigator.serviceWorker.register(to)",
    "cache-add": "caches.open('x').then(cache => cache.add(new Request(to, {mode: 'no-cors'})))",
    "form-get": FORM + "form.submit()",
    "form-post": FORM + "form.method = 'post'; form.submit()",
    "form-plain": FORM + "form.method = 'post'; form.enctype = 'text/plain'; form.submit()",
    "document-write": FRAME + "frame.contentDocument.write(`<img src='${to}'>`)",
    "window-open": "window.open(to)",
    "window-open-no-referrer": "window.open(to, '_blank', 'noopener,noreferrer')",
    "link-click": LINK + "link.href = to; link.target = '_blank'; link.rel = 'noreferrer'; link.click()",
    "link-ping": LINK + "link.href = '#x'; link.ping = to; link.click()",
    "payment": "new PaymentRequest([{supportedMethods: to}], "
               "{total: {label: 'x', amount: {currency: 'EUR', value: '1'}}}).canMakePayment()",
    "identity": "navigator.credentials.get({identity: {providers: [{configURL: to, clientId: 'x', nonce: 'n'}]}})",
    "shared-storage": "sharedStorage.createWorklet(to)",
    "auction": "navigator.joinAdInterestGroup("
               "{owner: new URL(to).origin, name: 'x', biddingLogicURL: to, ads: []}, 9999)",
    "media-session": "navigator.mediaSession.metadata = "
                     "new MediaMetadata({title: 'x', artwork: [{src: to, sizes: '96x96'}]})",
    "notification": "new Notification('x', {icon: to})",
    "install": "navigator.install(to)",
    "rules-script": "const rules = document.createElement('script'); rules.type = 'speculationrules'; "
                    "rules.textContent = JSON.stringify({prefetch: "
                    "[{source: 'list', urls: [to], eagerness: 'immediate'}]}); document.head.append(rules)",
}


def pages(to):
    def rules(**lists):
        return '<script type="speculationrules">%s</script>' % json.dumps(lists)

    def listed(to=to, **more):
        return [{"source": "list", "urls": [to], **more}]

    anywhere = [{"source": "document", "where": {"href_matches": "http*://*:*/*"}, "eagerness": "immediate"}]
    link, stranger = '<a href="%s">x</a>' % to, "/redirect?" + to
    xml = '<?xml version="1.0"?><?xml-stylesheet type="text/%%s" href="%s"?><a/>' % to
    blocked = "img-src 'none'; "
    return {
        "rules-prefetch": ({}, rules(prefetch=listed())),
        "rules-prefetch-no-referrer": ({}, rules(prefetch=listed(referrer_policy="no-referrer"))),
        "rules-prefetch-redirected": ({}, rules(prefetch=listed(stranger))),
        "rules-prefetch-anonymous": ({}, rules(prefetch=listed(requires=["anonymous-client-ip-when-cross-origin"]))),
        "rules-prerender": ({}, rules(prerender=listed())),
        "rules-prerender-redirected": ({}, rules(prerender=listed(stranger))),
        "rules-prerender-blank": ({}, rules(prerender=listed(target_hint="_blank"))),
        "rules-prerender-until-script": ({}, rules(prerender_until_script=listed())),
        "rules-document": ({}, link + rules(prefetch=anywhere)),
        "rules-document-prerender": ({}, link + rules(prerender=anywhere)),
        "rules-field": ({"Speculation-Rules": '"%s"' % to}, ""),
        "rules-of-the-field": ({"Speculation-Rules": '"/rules?%s"' % to}, ""),
        "field-preload": ({"Link": "<%s>; rel=preload; as=image" % to}, ""),
        "field-prefetch": ({"Link": "<%s>; rel=prefetch" % to}, ""),
        "field-modulepreload": ({"Link": "<%s>; rel=modulepreload" % to}, ""),
        "field-dictionary": ({"Link": "<%s>; rel=compression-dictionary" % to}, ""),
        "field-stylesheet": ({"Link": "<%s>; rel=stylesheet" % to}, ""),
        "early-hints": ({"103": "<%s>; rel=preload; as=image" % to}, ""),
        "csp-report": ({"Content-Security-Policy": blocked + "report-uri " + to}, '<img src="/x">'),
        "csp-report-only": ({"Content-Security-Policy-Report-Only": blocked + "report-uri " + to}, '<img src="/x">'),
        "csp-report-to": ({"Content-Security-Policy": blocked + "report-to e", "Reporting-Endpoints": 'e="%s"' % to},
                          '<img src="/x">'),
        "policy-report": ({"Reporting-Endpoints": 'default="%s"' % to,
                           "Permissions-Policy-Report-Only": "geolocation=();report-to=default"},
                          "<script>navigator.geolocation.getCurrentPosition(() => 0)</script>"),
        "nel": ({"Report-To": json.dumps({"group": "e", "max_age": 600, "endpoints": [{"url": to}]}),
                 "NEL": '{"report_to": "e", "max_age": 600, "success_fraction": 1, "failure_fraction": 1}'},
                '<img src="/x">'),
        "icon": ({}, '<link rel="icon" href="%s">' % to),
        "manifest-icon": ({}, '<link rel="manifest" href="/manifest?%s">' % to),
        "refresh": ({}, '<meta http-equiv="refresh" content="0;url=%s">' % to),
        "refresh-field": ({"Refresh": "0;url=" + to}, ""),
        "location": ({}, '<script>location = "%s"</script>' % to),
        "location-no-referrer": ({}, '<meta name="referrer" content="no-referrer">'
                                     '<script>location.replace("%s")</script>' % to),
        "form-page": ({}, '<form method="post" action="%s"></form><script>document.forms[0].submit()</script>' % to),
        "download": ({}, '<a href="%s" download>x</a><script>document.links[0].click()</script>' % to),
        "frameset": ({}, '<frameset><frame src="%s"></frameset>' % to),
        "xml-css": ({"Content-Type": "text/xml"}, xml % "css"),
        "xml-xslt": ({"Content-Type": "text/xml"}, xml % "xsl"),
        "background-fetch": ({}, "<script>navigator.serviceWorker.register('/worker.js')"
                                 ".then(() => navigator.serviceWorker.ready)"
                                 ".then(worker => worker.backgroundFetch.fetch('x', ['%s']))</script>" % to),
        "certificate-issuer": ({"issuer": to}, ""),
        "signed-exchange": ({"exchange": to}, ""),
        "service-worker-fetch": ({}, "<script>navigator.serviceWorker.register('/worker.js?%s')</script>" % to),
    }


SILENT = {
    "img-attribution": "needs a header of the page's that asks for it, and that origin's enrolment",
    "script-importmap": "an import map is in the page",
    "css-filter": "a filter of another origin's document is not read",
    "svg-use": "another origin's document is not read",
    "xml-xslt": "another origin's style sheet is not read",
    "worker": "the script of a worker is of the page's origin",
    "worker-shared": "the script of a worker is of the page's origin",
    "service-worker": "the script of a service worker is of the page's origin",
    "link-prerender": "replaced by speculation rules",
    "link-preconnect": "a connection without a request",
    "link-search": "taken up in a window with an address bar; marked as another site's there",
    "field-stylesheet": "not a relation that Chromium takes in this field",
    "rules-prefetch-anonymous": "needs a proxy of the browser's maker",
    "rules-prerender-blank": "in a window of its own only for the page's own site, whose pages try it",
    "webtransport": "HTTP/3: nothing listens on UDP",
    "ice": "no HTTP: a STUN message, which gets 400",
    "shared-storage": "not in this build",
    "auction": "needs the owner's origin to say that the page may join",
    "media-session": "needs a window with media controls",
    "notification": "needs a permission that a person gives",
    "install": "not in this build",
    "drag": "a person's own hand; the browser then calls the request theirs, as an address that was typed",
}

# Ways without Fetch metadata: it must be seen that they arrive at such a name, and are refused.
UNMARKED = {
    "img", "img-no-referrer", "script", "iframe-no-referrer", "fetch", "fetch-no-referrer", "fetch-disguised",
    "fetch-post", "form-get", "form-post", "link-click", "window-open", "location", "location-no-referrer",
    "link-prefetch", "websocket", "certificate-issuer",
}

# Reports go to https addresses alone, and so do requests for a signed exchange's certificate; early hints are taken
# over HTTP/2 alone.
SECURE = {"csp-report-to", "policy-report", "nel", "early-hints", "signed-exchange"}
# Of these the page asks at once; of the others when the browser likes, whatever page it shows then.
PROMPT = {"early-hints", "signed-exchange"}
