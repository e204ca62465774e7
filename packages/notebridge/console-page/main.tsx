import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Frame } from './frame.js';
import { LiveHub } from './live-hub.js';
import { parseRoute, type Route } from './route.js';
import { enter } from './session.js';
import { SignedOut } from './signed-out.js';

const place = document.getElementById('console');
if (place !== null) await open(place);

async function open(place: HTMLElement): Promise<void> {
  const why = await enter();
  place.replaceChildren();
  if (why !== undefined) return render(<SignedOut why={why} />, place);
  const hub = new LiveHub();
  render(<Console hub={hub} />, place);
  // Another code that is pasted into the address signs this tab in anew.
  addEventListener('hashchange', () => location.hash.startsWith('#code=') && location.reload());
  await hub.follow();
}

function Console({ hub }: { hub: LiveHub }) {
  const [route, setRoute] = useState<Route>(() => parseRoute(location.hash));
  const [signedOut, setSignedOut] = useState(hub.told.signedOut);
  useEffect(() => {
    const go = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', go);
    return () => removeEventListener('hashchange', go);
  }, []);
  useEffect(() => hub.subscribe(() => setSignedOut(hub.told.signedOut)), [hub]);
  return signedOut === undefined ? <Frame hub={hub} route={route} /> : <SignedOut why={signedOut} />;
}
