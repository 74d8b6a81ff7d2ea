#ifndef CTLS_H
#define CTLS_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What OpenSSL has as macros, which Swift does not see, what is made of its stacks, and what is asked of its callbacks.

/// What is noted of a session while its handshake goes on.
struct ctls_notes {
  /// The names and addresses that the other end's certificate is for when it is not accepted, with commas between; where
  /// there is no room for all of them, the last ones are left out.
  char certified[256];
  /// Of a client's hello: the name that it asks for, or nothing.
  char asked[256];
  /// The protocols that it offers, as ALPN has them, and how many bytes that is.
  unsigned char offered[256];
  unsigned int offered_size;
  /// The protocol that it is to get, as ALPN has it without its length; of 0 bytes it gets none.
  unsigned char chosen[256];
  unsigned char chosen_size;
  /// Whether a hello is to be answered, for which it waits.
  int goes_on;
};

/// Sets a context up for sockets that don't wait: parts are written as they are taken, wherever the rest lies then,
/// and an end without a farewell is an end.
void ctls_prepare(SSL_CTX *_Nonnull context);

/// Sets a context up for servers that see a client's hello before they answer it, and that ask for its certificate and
/// take any.
void ctls_prepare_server(SSL_CTX *_Nonnull context);

/// Says in the handshake which name the server is asked for; returns 1 if that is done.
int ctls_ask_for(SSL *_Nonnull session, const char *_Nonnull name);

/// Has notes taken of a session, as long as which they must live.
void ctls_take_notes(SSL *_Nonnull session, struct ctls_notes *_Nonnull notes);

/// Says to which file secrets are written. There is one a process, named before any is.
void ctls_open_key_log(int file);

/// Has the secrets of a context's sessions written to that file, a line each, as NSS's key logs have them.
void ctls_log_keys(SSL_CTX *_Nonnull context);

/// Makes contexts seen that libraries make by themselves, from now on and once a process; returns 1 if that is done.
int ctls_watch_contexts(void);

/// Says whether the contexts that this thread makes from now on are logged.
void ctls_log_keys_of_new_contexts(int is_on);

/// Makes a key (P-256); NULL when that fails.
EVP_PKEY *_Nullable ctls_make_key(void);

/// Makes the certificate of an authority, for ten years; NULL when that fails.
X509 *_Nullable ctls_make_authority(EVP_PKEY *_Nonnull key, const char *_Nonnull name);

/// Issues the certificate of a server, for a year; NULL when that fails. The subject's alternative name is written as
/// OpenSSL's configuration has it, such as DNS:localhost, and goes into it as it is.
X509 *_Nullable ctls_issue(const char *_Nonnull alternative_name, EVP_PKEY *_Nonnull key,
                           X509 *_Nonnull authority, EVP_PKEY *_Nonnull authority_key);

#endif
