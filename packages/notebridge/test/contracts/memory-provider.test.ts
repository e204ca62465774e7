import { createContractSource } from './contract-source.js';
import { describeProviderContract } from './provider-contract.js';

describeProviderContract('MemoryProvider', createContractSource);
