// Dex's server with sessions on, with its own pages, its password database and SQLite. The module of
// its gRPC API isn't published at this commit, so this program has an admin interface at /admin/.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/server/connectors"
	"github.com/dexidp/dex/server/session"
	"github.com/dexidp/dex/server/signer"
	"github.com/dexidp/dex/server/tokens"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/sql"
	"golang.org/x/crypto/bcrypt"
)

type settings struct {
	Listen       string `json:"listen"`
	Issuer       string `json:"issuer"`
	Database     string `json:"database"`
	TokenSeconds int    `json:"tokenSeconds"`
	// As expiry.refreshTokens.reuseInterval of Dex's configuration.
	ReuseInterval string `json:"reuseInterval"`
	// Whether to replace the signing key, as Dex does after keysRotationPeriod.
	NewSigningKey bool   `json:"newSigningKey"`
	Users         []user `json:"users"`
}

type user struct {
	ID       string   `json:"userID"`
	Email    string   `json:"email"`
	Name     string   `json:"name"`
	Password string   `json:"password"`
	Groups   []string `json:"groups"`
}

// Dex's log has identifiers of tokens, so nothing of it is kept.
var logger = slog.New(slog.DiscardHandler)

// Usage: provider SETTINGS, which are JSON.
func main() {
	if len(os.Args) != 2 {
		log.Fatal("Usage: provider SETTINGS")
	}
	var s settings
	must(json.Unmarshal([]byte(os.Args[1]), &s))
	store, err := (&sql.SQLite3{File: s.Database}).Open(logger)
	must(err)
	for _, u := range s.Users {
		must(addUser(store, u))
	}
	if s.NewSigningKey {
		must(endSigningKey(store))
	}
	refreshes := new(atomic.Int64)
	handler := http.NewServeMux()
	handler.Handle("/", counted(newServer(s, store), refreshes))
	handler.Handle("/admin/", http.StripPrefix("/admin", admin(s, store, refreshes)))

	listener, err := net.Listen("tcp", s.Listen)
	must(err)
	fmt.Println("Ready")
	log.Fatal(http.Serve(listener, handler))
}

func newServer(s settings, store storage.Storage) http.Handler {
	life := time.Duration(s.TokenSeconds) * time.Second
	store = storage.WithStaticConnectors(store, []storage.Connector{{
		ID: connectors.LocalConnector, Name: "Email", Type: connectors.LocalConnector,
	}})
	local := signer.LocalConfig{KeysRotationPeriod: "6h"}
	keys, err := local.Open(context.Background(), store, life, time.Now, logger)
	must(err)
	policy, err := tokens.NewRefreshTokenPolicy(logger, false, "", "", s.ReuseInterval)
	must(err)
	dex, err := server.NewServer(context.Background(), server.Config{
		Issuer:             s.Issuer,
		Storage:            store,
		IDTokensValidFor:   life,
		RefreshTokenPolicy: policy,
		Signer:             keys,
		Logger:             logger,
		// Dex's defaults.
		SessionConfig: &session.Config{
			CookieName:                 "dex_session",
			AbsoluteLifetime:           24 * time.Hour,
			ValidIfNotUsedFor:          time.Hour,
			RememberMeCheckedByDefault: true,
		},
	})
	must(err)
	return dex
}

// counted counts the refreshes.
func counted(dex http.Handler, refreshes *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.PostFormValue("grant_type") == "refresh_token" {
			refreshes.Add(1)
		}
		dex.ServeHTTP(w, r)
	})
}

func admin(s settings, store storage.Storage, refreshes *atomic.Int64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /refreshes", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, refreshes.Load())
	})
	mux.HandleFunc("POST /clients", func(w http.ResponseWriter, r *http.Request) {
		var client storage.Client
		err := json.NewDecoder(r.Body).Decode(&client)
		if err == nil {
			err = store.CreateClient(r.Context(), client)
		}
		respond(w, err)
	})
	mux.HandleFunc("DELETE /tokens/{client}/{user}", func(w http.ResponseWriter, r *http.Request) {
		clients := []string{r.PathValue("client")}
		tokens.NewRefreshStore(store, time.Now, logger).
			RevokeClients(r.Context(), r.PathValue("user"), connectors.LocalConnector, clients)
		respond(w, nil)
	})
	mux.HandleFunc("DELETE /users/{email}", func(w http.ResponseWriter, r *http.Request) {
		respond(w, store.DeletePassword(r.Context(), r.PathValue("email")))
	})
	mux.HandleFunc("POST /users", func(w http.ResponseWriter, _ *http.Request) {
		for _, u := range s.Users {
			if err := addUser(store, u); err != nil {
				respond(w, err)
				return
			}
		}
		respond(w, nil)
	})
	return mux
}

func addUser(store storage.Storage, u user) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(u.Password), bcrypt.DefaultCost)
	if err != nil {
		return err
	}
	err = store.CreatePassword(context.Background(), storage.Password{
		Email: u.Email, Hash: hash, Username: u.ID, Name: u.Name, UserID: u.ID, Groups: u.Groups,
	})
	if err == storage.ErrAlreadyExists {
		return nil
	}
	return err
}

// endSigningKey lets the signer replace its key when it starts.
func endSigningKey(store storage.Storage) error {
	return store.UpdateKeys(context.Background(), func(keys storage.Keys) (storage.Keys, error) {
		keys.NextRotation = time.Now().Add(-time.Second)
		return keys, nil
	})
}

func respond(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
