package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

type clientWish struct {
	ID             string           `json:"id"`
	Secret         string           `json:"secret"`
	Method         oidc.AuthMethod  `json:"method"`
	Key            *jose.JSONWebKey `json:"key"`
	RedirectURI    string           `json:"redirectUri"`
	AfterLogoutURI string           `json:"afterLogoutUri"`
}

// client is the example's web client with what the example leaves open or fixes.
type client struct {
	*storage.Client
	wish clientWish
	life time.Duration
}

func (c *client) AuthMethod() oidc.AuthMethod      { return c.wish.Method }
func (c *client) IDTokenLifetime() time.Duration   { return c.life }
func (c *client) PostLogoutRedirectURIs() []string { return []string{c.wish.AfterLogoutURI} }

// runStorage is the example's storage with clients that are registered while it runs, short
// lifetimes, and counts of refreshes and revocations.
type runStorage struct {
	*storage.Storage
	life      time.Duration
	refreshes atomic.Int64
	revoked   atomic.Int64
	lock      sync.RWMutex
	clients   map[string]*client
}

func newRunStorage(example *storage.Storage, life time.Duration) *runStorage {
	return &runStorage{Storage: example, life: life, clients: map[string]*client{}}
}

func (s *runStorage) register(wish clientWish) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.clients[wish.ID] = &client{
		Client: storage.WebClient(wish.ID, wish.Secret, wish.RedirectURI),
		wish:   wish,
		life:   s.life,
	}
}

func (s *runStorage) find(id string) (*client, error) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	if found, ok := s.clients[id]; ok {
		return found, nil
	}
	return nil, errors.New("client not found")
}

func (s *runStorage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	found, err := s.find(id)
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (s *runStorage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	found, err := s.find(id)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(found.wish.Secret), []byte(secret)) != 1 {
		return errors.New("invalid secret")
	}
	return nil
}

func (s *runStorage) GetKeyByIDAndClientID(
	_ context.Context, keyID, clientID string,
) (*jose.JSONWebKey, error) {
	found, err := s.find(clientID)
	if err != nil {
		return nil, err
	}
	if key := found.wish.Key; key != nil && key.KeyID == keyID {
		return key, nil
	}
	return nil, errors.New("key not found")
}

func (s *runStorage) CreateAccessToken(
	ctx context.Context, request op.TokenRequest,
) (string, time.Time, error) {
	id, _, err := s.Storage.CreateAccessToken(ctx, request)
	return id, time.Now().Add(s.life), err
}

func (s *runStorage) CreateAccessAndRefreshTokens(
	ctx context.Context, request op.TokenRequest, current string,
) (string, string, time.Time, error) {
	id, refreshToken, _, err := s.Storage.CreateAccessAndRefreshTokens(ctx, request, current)
	return id, refreshToken, time.Now().Add(s.life), err
}

func (s *runStorage) TokenRequestByRefreshToken(
	ctx context.Context, refreshToken string,
) (op.RefreshTokenRequest, error) {
	s.refreshes.Add(1)
	return s.Storage.TokenRequestByRefreshToken(ctx, refreshToken)
}

func (s *runStorage) RevokeToken(
	ctx context.Context, token, userID, clientID string,
) *oidc.Error {
	err := s.Storage.RevokeToken(ctx, token, userID, clientID)
	if err == nil {
		s.revoked.Add(1)
	}
	return err
}
