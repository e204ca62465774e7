import type { BegunCall, CallObserver, EndCall } from '@notebridge/protocol/core/call-observer';

/** Several observers as one. Those that are off are told nothing, and of a call that began meanwhile not the end either. */
export class CallObservers implements CallObserver {
  #all: readonly CallObserver[];

  constructor(...observers: readonly CallObserver[]) {
    this.#all = observers;
  }

  get isOn(): boolean {
    for (const observer of this.#all) if (observer.isOn) return true;
    return false;
  }

  /** Learns of each call that begins from now on. */
  add(observer: CallObserver): void {
    this.#all = [...this.#all, observer];
  }

  begin(call: BegunCall): EndCall {
    const [first, ...others] = this.#all.filter(({ isOn }) => isOn).map((observer) => observer.begin(call));
    if (first !== undefined && others.length === 0) return first;
    return (...ended) => {
      first?.(...ended);
      for (const end of others) end(...ended);
    };
  }
}
