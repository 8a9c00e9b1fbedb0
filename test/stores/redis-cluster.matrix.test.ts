import { testOverCluster } from "./redis-cluster-tests.js";

// ioredis and node-redis over one server are in redis.test.ts.
testOverCluster("node-redis");
testOverCluster("ioredis");
