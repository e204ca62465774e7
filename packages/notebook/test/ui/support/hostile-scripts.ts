type Named = readonly [name: string, html: string];

/**
 * Outputs whose scripts try to get out of their frame. Each that works is heard by the server, or says so to the top window; "ok" is what
 * may be said.
 */
export function escapes(server: string): readonly Named[] {
  const url = `http://${server}`;
  const script = (code: string): string => `<script>{ const say = (x) => top.postMessage(String(x), '*'); ${code} }</script>`;
  const tried = (code: string) => script(`try { ${code} } catch {}`);
  return [
    [
      'hints',
      `<link rel=preconnect href="${url}/"><link rel=dns-prefetch href="${url}/"><link rel=prefetch href="${url}/p"><link rel=modulepreload href="${url}/m">`,
    ],
    [
      'things that load',
      `<img src="${url}/i"><link rel=stylesheet href="${url}/c"><video src="${url}/v"></video><object data="${url}/o"></object><embed src="${url}/e"><script src="${url}/s"></script><style>@import "${url}/x"; p { background: url(${url}/b) } @font-face { font-family: f; src: url(${url}/f) } p { font-family: f }</style><p>x</p>`,
    ],
    [
      'speculation',
      `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${url}/1"]}],"prerender":[{"source":"list","urls":["${url}/2"]}]}</script>`,
    ],
    [
      'requests',
      tried(`fetch("${url}/f").then(() => say("fetched"), () => {}); const x = new XMLHttpRequest(); x.open("GET", "${url}/x"); x.send();`),
    ],
    ['beacons', tried(`navigator.sendBeacon("${url}/b")`)],
    [
      'sockets',
      tried(`new WebSocket("ws://${server}/w")`) + tried(`new EventSource("${url}/e")`) + tried(`new WebTransport("https://${server}/t")`),
    ],
    [
      'WebRTC',
      tried(
        `const p = new RTCPeerConnection({ iceServers: [{ urls: "stun:${server}" }] }); p.createDataChannel("x"); p.createOffer().then((o) => p.setLocalDescription(o)); say("made a connection")`,
      ),
    ],
    [
      'windows',
      tried(`if (open("${url}/o")) say("opened")`) +
        tried(`top.location = "${url}/t"; say("left")`) +
        tried(`parent.location.href; say("read the address")`),
    ],
    [
      'storage',
      [
        'localStorage.x',
        'sessionStorage.x',
        'document.cookie',
        'indexedDB.open("x")',
        'navigator.serviceWorker.register("x")',
        'caches.open("x")',
      ]
        .map((each) =>
          tried(
            `const s = ${each}; Promise.resolve(s).then(() => { if (!(s instanceof IDBRequest)) say("stored ${each.slice(0, 9)}") }, () => {})`,
          ),
        )
        .join('')
        .replaceAll('s instanceof IDBRequest', 'globalThis.IDBRequest && s instanceof IDBRequest'),
    ],
    [
      'the window',
      tried('parent.document.body.innerHTML = "pwned"; say("reached")') +
        tried('top.pwned = 1; say("reached")') +
        tried('if (origin !== "null") say(origin)'),
    ],
    [
      'a page within, by markup',
      `<iframe srcdoc="<script>top.postMessage('srcdoc ran','*')</script>"></iframe><IFRAME src="data:text/html,<script>top.postMessage('data ran','*')</script>"></IFRAME><frameset><frame src="javascript:top.postMessage('frame ran','*')"></frameset>`,
    ],
    [
      'a page within, by names',
      tried(
        `for (const f of [document.createElement("iframe"), document.createElement("IFRAME"), document.createElementNS("http://www.w3.org/1999/xhtml", "iframe"), document.createElementNS("http://www.w3.org/1999/xhtml", "x:iframe"), document.createElement({ n: 0, toString() { return this.n++ ? "iframe" : "div" } }), document.implementation.createDocument("http://www.w3.org/1999/xhtml", "iframe").documentElement]) { f.srcdoc = "<script>top.postMessage('made ran','*')<\\/script>"; document.body.append(f); if (f.localName === "iframe") say("made an iframe") }`,
      ),
    ],
    [
      'a page within, by kinds',
      tried(
        `class F extends HTMLIFrameElement {} customElements.define("x-f", F, { extends: "iframe" }); document.body.append(new F()); say("made an iframe")`,
      ),
    ],
    [
      'a page within, by writing',
      tried(
        `document.write("<ifr"); document.write("ame srcdoc='x'></iframe>"); document.writeln("<iframe>"); document.open(); if (document.querySelector("iframe")) say("wrote an iframe")`,
      ),
    ],
    [
      'a page within, by strings',
      tried(
        `const d = document.createElement("div"); document.body.append(d); const html = "<iframe srcdoc='<script>top.postMessage(1,\\"*\\")<\\/script>'></iframe>"; d.innerHTML = html; d.insertAdjacentHTML("beforeend", html); d.setHTMLUnsafe?.(html); d.setHTML?.(html, { sanitizer: { elements: ["iframe", "link"] } }); d.append(document.createRange().createContextualFragment(html)); d.append(...new DOMParser().parseFromString(html, "text/html").body.children); d.append(...(Document.parseHTMLUnsafe?.(html).body.children ?? [])); const t = document.createElement("template"); t.innerHTML = html; d.append(t.content.cloneNode(true)); if (d.querySelector("iframe")) say("made an iframe")`,
      ),
    ],
    [
      'a page within, by XML',
      tried(
        `const x = (s) => document.body.append(document.adoptNode(new DOMParser().parseFromString(s, "application/xhtml+xml").documentElement)); x('<h:iframe xmlns:h="http://www.w3.org/1999/xhtml"/>'); x('<!DOCTYPE a [<!ENTITY e "&#60;h:iframe xmlns:h=\\'http://www.w3.org/1999/xhtml\\'/>">]><a>&e;</a>'); if (document.getElementsByTagName("iframe").length || document.getElementsByTagName("h:iframe").length) say("made an iframe")`,
      ),
    ],
    ['a page within, by a style sheet for XML', tried(`const p = new XSLTProcessor(); say("can transform")`)],
    [
      'with built-ins replaced',
      tried(
        `RegExp.prototype.exec = () => null; String.prototype.charAt = () => ""; Reflect.apply = () => {}; Object.defineProperty = () => {}; document.body.insertAdjacentHTML("beforeend", "<iframe></iframe><meta http-equiv=refresh content='0;url=${url}/m'>"); document.body.append(document.createElement("iframe")); if (document.querySelector("iframe, meta[http-equiv]")) say("made an iframe")`,
      ),
    ],
    [
      'guards taken off',
      tried(`delete Document.prototype.createElement; Object.defineProperty(Document.prototype, "createElement", { value: 1 }); `) +
        tried(`trustedTypes.createPolicy("mine", { createHTML: (x) => x }); say("made a policy")`) +
        tried(`trustedTypes.createPolicy("default", { createHTML: (x) => x }); say("made a policy")`),
    ],
    [
      'a refresh',
      `<meta http-equiv=refresh content="0;url=${url}/r"><base href="${url}/">` +
        tried(`const m = document.createElement("meta"); m.httpEquiv = "refresh"; m.content = "0;url=${url}/r2"; document.head.append(m)`),
    ],
    [
      'a form',
      `<form id=f method=post action="${url}/f" target=_top><input name=a></form>${tried('f.submit()')}${tried('f.requestSubmit()')}`,
    ],
    [
      'links',
      `<a id=l href="#x" ping="${url}/p">x</a>` +
        tried('l.click()') +
        tried(
          `const a = document.createElement("a"); a.href = "${url}/a"; a.target = "_blank"; a.click(); a.target = "_top"; a.click(); a.download = "x"; a.href = "data:,x"; a.click()`,
        ),
    ],
    [
      'workers',
      tried(`new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))).onmessage = () => say("worked")`) +
        tried(`new SharedWorker("data:text/javascript,1")`),
    ],
    ['dialogs', tried('alert(1)') + tried('print()') + tried('if (confirm("x")) say("confirmed")')],
    [
      'devices',
      tried('navigator.geolocation.getCurrentPosition(() => say("located"))') +
        tried('navigator.mediaDevices.getUserMedia({ video: true }).then(() => say("seen"), () => {})') +
        tried('document.documentElement.requestFullscreen().then(() => say("full"), () => {})') +
        tried('navigator.clipboard.readText().then(() => say("read"), () => {})'),
    ],
    ['what a chart does', script('say("ok " + new Function("return 6 * 7")() + eval("1"))')],
  ];
}
