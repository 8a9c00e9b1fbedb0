interface Shop {
  readonly mainHost: string;
}

const SHOPS: ReadonlyMap<string, Shop> = new Map([
  ["shop.customer.example", { mainHost: "shop.customer.example" }],
  ["www.shop.customer.example", { mainHost: "shop.customer.example" }],
]);

/** In place of a table in your database. */
export const shops = {
  byHost: (host: string): Promise<Shop | undefined> => Promise.resolve(SHOPS.get(host)),
};
