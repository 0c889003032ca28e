// Owns how pages look, and the one script there is. Both are constant, so that the content security policy can name
// them by digest.

/// The constant parts of pages.
enum PageStyle {
  /// System fonts, both colour schemes, visible focus, no pictures.
  static let sheet = """
    :root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--page:#eef1f4;--card:#fff;--line:#c4ccd4;\
    --main:#0b5cad;--on-main:#fff;--bad:#a8071a;--bad-back:#fff1f0}
    @media (prefers-color-scheme:dark){:root{--ink:#e9edf1;--quiet:#a5b0bb;--page:#14181c;--card:#1e242a;--line:#46515c;\
    --main:#8cc2ff;--on-main:#0b1d30;--bad:#ffb3ab;--bad-back:#3b1d1d}}
    *{box-sizing:border-box}
    body{margin:0;padding:1rem;min-height:100vh;display:flex;flex-direction:column;align-items:center;\
    justify-content:center;gap:1rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
    main{width:100%;max-width:26rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;\
    padding:2rem 1.75rem}
    h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
    h2{font-size:1rem;margin:1.25rem 0 .25rem}
    p{margin:.25rem 0 1rem}
    p,li,b{overflow-wrap:anywhere}
    ul{margin:0 0 1rem;padding-left:1.25rem}
    li{margin:.25rem 0}
    small,footer,.quiet{color:var(--quiet);font-size:.875rem}
    footer{max-width:26rem;text-align:center}
    label{display:block;font-weight:600;margin:.75rem 0 .25rem}
    input{width:100%;font:inherit;padding:.6rem .75rem;color:inherit;background:transparent;border:1px solid var(--quiet);\
    border-radius:.4rem}
    input.code{font:600 1.5rem/1.4 ui-monospace,monospace;letter-spacing:.1em;text-align:center;text-transform:uppercase}
    .buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
    button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.25rem;border-radius:.4rem;cursor:pointer;\
    border:1px solid var(--line);background:transparent;color:inherit}
    button.main{background:var(--main);border-color:var(--main);color:var(--on-main)}
    button.account{display:block;width:100%;text-align:left;margin:.5rem 0}
    button.account small{display:block;font-weight:400}
    :focus-visible{outline:3px solid var(--main);outline-offset:2px}
    .problem{color:var(--bad);background:var(--bad-back);border-radius:.4rem;padding:.6rem .75rem;margin:.75rem 0}
    .usercode{font:600 1.25rem/1.4 ui-monospace,monospace;letter-spacing:.1em}
    """

  /// Sends the only form of a page that is nothing but a form.
  static let script = "document.forms[0].submit()"
}
