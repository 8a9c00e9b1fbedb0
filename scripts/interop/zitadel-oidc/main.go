// The example provider of github.com/zitadel/oidc, with its own login page and storage. Clients and
// lifetimes come from the run, so this program adds an admin interface at /admin/.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

// Usage: provider PORT USERS_FILE TOKEN_SECONDS
func main() {
	if len(os.Args) != 4 {
		log.Fatal("Usage: provider PORT USERS_FILE TOKEN_SECONDS")
	}
	port, usersFile := os.Args[1], os.Args[2]
	life, err := time.ParseDuration(os.Args[3] + "s")
	if err != nil {
		log.Fatal(err)
	}
	users, err := storage.StoreFromFile(usersFile)
	if err != nil {
		log.Fatal(err)
	}
	store := newRunStorage(storage.NewStorage(users), life)

	issuer := fmt.Sprintf("http://localhost:%s/", port)
	// The provider's log has identifiers of tokens, so nothing of it is kept.
	handler := http.NewServeMux()
	handler.Handle("/", exampleop.SetupServer(issuer, store, slog.New(slog.DiscardHandler), false))
	handler.Handle("/admin/", http.StripPrefix("/admin", admin(store)))

	listener, err := net.Listen("tcp", "localhost:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Ready")
	log.Fatal(http.Serve(listener, handler))
}

func admin(store *runStorage) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /clients", func(w http.ResponseWriter, r *http.Request) {
		var wish clientWish
		if err := json.NewDecoder(r.Body).Decode(&wish); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		store.register(wish)
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("GET /refreshes", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, store.refreshes.Load())
	})
	mux.HandleFunc("GET /revocations", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, store.revoked.Load())
	})
	mux.HandleFunc("DELETE /tokens/{client}/{user}", func(w http.ResponseWriter, r *http.Request) {
		err := store.TerminateSession(r.Context(), r.PathValue("user"), r.PathValue("client"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}
