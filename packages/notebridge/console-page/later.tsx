import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Fault, messageOf } from './parts.js';

/** A view whose code is loaded when it is first opened. */
export function Later<Props extends object>({ load, props }: { load: () => Promise<ComponentType<Props>>; props: Props }) {
  const [loaded, setLoaded] = useState<{ Opened?: ComponentType<Props>; fault?: string }>({});
  useEffect(() => {
    load().then(
      (Opened) => setLoaded({ Opened }),
      (error: unknown) => setLoaded({ fault: `This view could not be loaded: ${messageOf(error)} Reload the page.` }),
    );
  }, []);
  const { Opened, fault } = loaded;
  return Opened === undefined ? <Fault text={fault} /> : <Opened {...props} />;
}
