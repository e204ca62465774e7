// @module-tag P-119

import { describe, expect, it } from 'vitest';
import { ownDescriptorLimit } from './descriptor-limit.js';

describe('ownDescriptorLimit', () => {
  it('knows the bound of this process', () => {
    expect(ownDescriptorLimit()).toBeGreaterThan(100);
  });
});
