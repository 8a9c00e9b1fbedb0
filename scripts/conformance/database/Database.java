import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;

/** A MongoDB server in memory on a port of 127.0.0.1, which the argument gives. */
public class Database {
    public static void main(String[] args) {
        MongoServer server = new MongoServer(new MemoryBackend() {
            // The suite asks for the version of the data's format when it starts, and doesn't start
            // without an answer. This server has no such format.
            @Override
            public Document handleCommand(Channel channel, String database, String command, Document query) {
                if (!command.equalsIgnoreCase("getParameter")) {
                    return super.handleCommand(channel, database, command, query);
                }
                Document version = new Document("version", "6.0");
                return new Document("featureCompatibilityVersion", version).append("ok", 1.0);
            }
        });
        server.bind("127.0.0.1", Integer.parseInt(args[0]));
        System.out.println("database: ready");
    }
}
