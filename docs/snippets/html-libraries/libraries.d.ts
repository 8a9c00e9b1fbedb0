// What the two files use of Turbo and Unpoly, which aren't installed with idpauth.

interface TurboFetchResponse {
  header(name: string): string | null;
}

interface DocumentEventMap {
  "turbo:before-fetch-response": CustomEvent<{ fetchResponse: TurboFetchResponse }> & {
    readonly target: Element;
  };
}

interface UnpolyLoaded extends Event {
  readonly request: { readonly method: string; loadPage(): void };
  readonly response: { header(name: string): string | null; isHTML(): boolean };
}

declare const up: {
  on(type: "up:fragment:loaded", listener: (event: UnpolyLoaded) => void): void;
};
