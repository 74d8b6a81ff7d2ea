#ifndef CTLS_H
#define CTLS_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What OpenSSL has as macros, which Swift does not see, and what is made of its stacks.

/// Sets a context up for sockets that don't wait: parts are written as they are taken, wherever the rest lies then,
/// and an end without a farewell is an end.
void ctls_prepare(SSL_CTX *_Nonnull context);

/// Says in the handshake which name the server is asked for; returns 1 if that is done.
int ctls_ask_for(SSL *_Nonnull session, const char *_Nonnull name);

/// How many bytes the text of ctls_note_names has.
#define CTLS_NAMES_SIZE 256

/// Has the names and addresses that the other end's certificate is for written down when it is not accepted, with
/// commas between, as a text that ends with NUL. Where there is no room for all of them, the last ones are left out.
/// The text must live as long as the session.
void ctls_note_names(SSL *_Nonnull session, char *_Nonnull text);

#endif
