#include "CTLS.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ctls_prepare(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
}

int ctls_ask_for(SSL *session, const char *name) {
  return (int)SSL_set_tlsext_host_name(session, name);
}

// The other end's certificate

static void write_names(X509 *certificate, char *text, size_t size) {
  text[0] = 0;
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  size_t used = 0;
  for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    char address[INET6_ADDRSTRLEN] = "";
    const char *bytes = address;
    size_t count = 0;
    if (name->type == GEN_DNS) {
      bytes = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
      count = (size_t)ASN1_STRING_length(name->d.dNSName);
    } else if (name->type == GEN_IPADD) {
      const int length = ASN1_STRING_length(name->d.iPAddress);
      if (length != 4 && length != 16) continue;
      inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), address,
                sizeof address);
      count = strlen(address);
    }
    if (count == 0) continue;
    const size_t gap = used > 0 ? 2 : 0;
    if (used + gap + count >= size) break;
    memcpy(text + used, ", ", gap);
    memcpy(text + used + gap, bytes, count);
    used += gap + count;
    text[used] = 0;
  }
  GENERAL_NAMES_free(names);
}

static int note_certificate(int is_accepted, X509_STORE_CTX *store) {
  SSL *session = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  // Of a client any is taken: the server that it is meant for does not see it.
  if (is_accepted || !session || SSL_is_server(session)) return 1;
  struct ctls_notes *notes = SSL_get_app_data(session);
  X509 *certificate = X509_STORE_CTX_get0_cert(store);
  if (notes && certificate) write_names(certificate, notes->certified, sizeof notes->certified);
  return 0;
}

void ctls_take_notes(SSL *session, struct ctls_notes *notes) {
  memset(notes, 0, sizeof *notes);
  SSL_set_app_data(session, notes);
  SSL_set_verify(session, SSL_get_verify_mode(session), note_certificate);
}

// A client's hello

static void note_name(SSL *session, struct ctls_notes *notes) {
  const unsigned char *bytes;
  size_t size;
  if (!SSL_client_hello_get0_ext(session, TLSEXT_TYPE_server_name, &bytes, &size)) return;
  // RFC 6066 section 3: the length of a list, and in it a kind, which is 0 of names, a length and the name.
  if (size < 5 || bytes[2] != 0) return;
  const size_t count = (size_t)bytes[3] << 8 | bytes[4];
  if (count > size - 5 || count >= sizeof notes->asked || memchr(bytes + 5, 0, count)) return;
  memcpy(notes->asked, bytes + 5, count);
}

static void note_protocols(SSL *session, struct ctls_notes *notes) {
  const unsigned char *bytes;
  size_t size;
  const int type = TLSEXT_TYPE_application_layer_protocol_negotiation;
  if (!SSL_client_hello_get0_ext(session, type, &bytes, &size)) return;
  // RFC 7301 section 3.1: the length of the list, and the list.
  if (size < 2 || size - 2 > sizeof notes->offered) return;
  if (((size_t)bytes[0] << 8 | bytes[1]) != size - 2) return;
  notes->offered_size = (unsigned int)(size - 2);
  memcpy(notes->offered, bytes + 2, size - 2);
}

static int meet(SSL *session, int *alert, void *argument) {
  (void)argument;
  struct ctls_notes *notes = SSL_get_app_data(session);
  if (!notes) {
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_CLIENT_HELLO_ERROR;
  }
  if (notes->goes_on) return SSL_CLIENT_HELLO_SUCCESS;
  note_name(session, notes);
  note_protocols(session, notes);
  return SSL_CLIENT_HELLO_RETRY;
}

static int choose(SSL *session, const unsigned char **chosen, unsigned char *size,
                  const unsigned char *offered, unsigned int offered_size, void *argument) {
  (void)offered;
  (void)offered_size;
  (void)argument;
  struct ctls_notes *notes = SSL_get_app_data(session);
  if (!notes || notes->chosen_size == 0) return SSL_TLSEXT_ERR_NOACK;
  *chosen = notes->chosen;
  *size = notes->chosen_size;
  return SSL_TLSEXT_ERR_OK;
}

void ctls_prepare_server(SSL_CTX *context) {
  ctls_prepare(context);
  // Each handshake is a whole one, in which the client says what it wants.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_client_hello_cb(context, meet, NULL);
  SSL_CTX_set_alpn_select_cb(context, choose, NULL);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_certificate);
}

// Secrets

static int key_log = -1;

static void log_key(const SSL *session, const char *line) {
  (void)session;
  char text[512];
  const int count = snprintf(text, sizeof text, "%s\n", line);
  // By one call, so that lines of several processes don't mix. The program that logs keys can't be told
  // that it fails.
  if (count > 0 && (size_t)count < sizeof text && write(key_log, text, (size_t)count) < 0) return;
}

void ctls_open_key_log(int file) { key_log = file; }

void ctls_log_keys(SSL_CTX *context) { SSL_CTX_set_keylog_callback(context, log_key); }

static _Thread_local int logs_new_contexts = 0;

static void meet_context(void *context, void *value, CRYPTO_EX_DATA *data, int index, long number,
                         void *argument) {
  (void)value;
  (void)data;
  (void)index;
  (void)number;
  (void)argument;
  if (logs_new_contexts) ctls_log_keys(context);
}

int ctls_watch_contexts(void) {
  // OpenSSL tells of each context that it makes who has a place among its data; nothing is kept in this one.
  return SSL_CTX_get_ex_new_index(0, NULL, meet_context, NULL, NULL) >= 0;
}

void ctls_log_keys_of_new_contexts(int is_on) { logs_new_contexts = is_on; }

// Certificates of our own

EVP_PKEY *ctls_make_key(void) { return EVP_EC_gen("P-256"); }

static int extend(X509 *certificate, X509 *issuer, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  if (!extension) return 0;
  const int is_added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return is_added;
}

static int number(X509 *certificate) {
  BIGNUM *number = BN_new();
  // RFC 5280 section 4.1.2.2: positive, and nobody can guess it.
  const int is_set = number && BN_rand(number, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ODD) &&
                     BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  return is_set;
}

static X509 *begin(EVP_PKEY *key, long days) {
  X509 *certificate = X509_new();
  if (!certificate) return NULL;
  // Clocks differ.
  const int is_begun = X509_set_version(certificate, X509_VERSION_3) && number(certificate) &&
                       X509_gmtime_adj(X509_getm_notBefore(certificate), -86400) &&
                       X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86400) &&
                       X509_set_pubkey(certificate, key);
  if (is_begun) return certificate;
  X509_free(certificate);
  return NULL;
}

static int name_subject(X509 *certificate, const char *name) {
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    (const unsigned char *)name, -1, -1, 0);
}

X509 *ctls_make_authority(EVP_PKEY *key, const char *name) {
  X509 *certificate = begin(key, 3650);
  if (!certificate) return NULL;
  const int is_made =
      name_subject(certificate, name) &&
      X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) &&
      extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      extend(certificate, certificate, NID_subject_key_identifier, "hash") &&
      X509_sign(certificate, key, EVP_sha256()) > 0;
  if (is_made) return certificate;
  X509_free(certificate);
  return NULL;
}

X509 *ctls_issue(const char *alternative_name, EVP_PKEY *key, X509 *authority,
                 EVP_PKEY *authority_key) {
  X509 *certificate = begin(key, 365);
  if (!certificate) return NULL;
  const int is_made =
      name_subject(certificate, "reprise record proxy") &&
      X509_set_issuer_name(certificate, X509_get_subject_name(authority)) &&
      extend(certificate, authority, NID_basic_constraints, "critical,CA:FALSE") &&
      extend(certificate, authority, NID_key_usage, "critical,digitalSignature") &&
      extend(certificate, authority, NID_ext_key_usage, "serverAuth") &&
      extend(certificate, authority, NID_subject_alt_name, alternative_name) &&
      extend(certificate, authority, NID_subject_key_identifier, "hash") &&
      extend(certificate, authority, NID_authority_key_identifier, "keyid:always") &&
      X509_sign(certificate, authority_key, EVP_sha256()) > 0;
  if (is_made) return certificate;
  X509_free(certificate);
  return NULL;
}
