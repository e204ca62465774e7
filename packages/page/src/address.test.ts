import { describe, expect, it } from 'vitest';
import { createAddressBar, createMemoryStorage } from '../test/support/node-page.js';
import { AddressKeeper, parseEntry, takeFragment } from './address.js';

describe('takeFragment', () => {
  it.each([
    ['#mcpProxyToken=t-1&mcpProxyPort=81', ''],
    ['#mcpProxyPort=81&mcpProxyToken=t-1&section=2', '#section=2'],
    ['#section&mcpProxyToken=t-1&mcpProxyPort=81', '#section'],
  ])('takes the address out of %s, and leaves the rest', (hash, left) => {
    const { location, history } = createAddressBar(`https://page.example/a/b?c=1${hash}`);
    expect(takeFragment(location, history)).toEqual({ token: 't-1', port: 81 });
    expect(location.href).toBe(`https://page.example/a/b?c=1${left}`);
  });

  it.each(['', '#section', '#mcpProxyToken=t', '#mcpProxyToken=&mcpProxyPort=81', '#mcpProxyToken=t&mcpProxyPort=70000'])(
    'leaves %s alone',
    (hash) => {
      const { location, history } = createAddressBar(`https://page.example/${hash}`);
      expect(takeFragment(location, history)).toBeUndefined();
      expect(location.href).toBe(`https://page.example/${hash}`);
    },
  );
});

describe('parseEntry', () => {
  it('takes token and port, or the whole URL', () => {
    expect(parseEntry(' t-1&81\n')).toEqual({ token: 't-1', port: 81 });
    expect(parseEntry(' https://page.example/?x=1#mcpProxyToken=t-1&mcpProxyPort=81 ')).toEqual({ token: 't-1', port: 81 });
  });

  it.each(['', 't-1', 't-1&', '&81', 't-1&0', 't-1&65536', 't-1&81&2', 'https://page.example/'])('throws for "%s"', (text) => {
    expect(() => parseEntry(text)).toThrow('Expected "<token>&<port>"');
  });
});

describe('AddressKeeper', () => {
  it('keeps an address for the page of that name', () => {
    const storage = createMemoryStorage();
    const address = { token: 't', port: 81, agentName: 'a' };
    new AddressKeeper(storage, 'one').keep(address);
    expect(new AddressKeeper(storage, 'one').read()).toEqual(address);
    expect(new AddressKeeper(storage, 'two').read()).toBeUndefined();
    new AddressKeeper(storage, 'one').forget();
    expect(new AddressKeeper(storage, 'one').read()).toBeUndefined();
  });

  it.each(['{', '[]', '{"token":1,"port":2}', '{"token":"t","port":"x"}'])('reads nothing from %s', (text) => {
    const storage = createMemoryStorage();
    storage.setItem('notebridge:page', text);
    expect(new AddressKeeper(storage, 'page').read()).toBeUndefined();
  });

  it('does without a storage, and with one that throws', () => {
    const fail = (): never => {
      throw new Error('forbidden');
    };
    for (const storage of [undefined, { getItem: fail, setItem: fail, removeItem: fail }]) {
      const keeper = new AddressKeeper(storage, 'page');
      keeper.keep({ token: 't', port: 81 });
      keeper.forget();
      expect(keeper.read()).toBeUndefined();
    }
  });
});
