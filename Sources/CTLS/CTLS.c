#include "CTLS.h"

#include <arpa/inet.h>
#include <string.h>

void ctls_prepare(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
}

int ctls_ask_for(SSL *session, const char *name) {
  return (int)SSL_set_tlsext_host_name(session, name);
}

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

static int note(int is_accepted, X509_STORE_CTX *store) {
  if (is_accepted) return is_accepted;
  SSL *session = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  char *text = session ? SSL_get_app_data(session) : NULL;
  X509 *certificate = X509_STORE_CTX_get0_cert(store);
  if (text && certificate) write_names(certificate, text, CTLS_NAMES_SIZE);
  return is_accepted;
}

void ctls_note_names(SSL *session, char *text) {
  text[0] = 0;
  SSL_set_app_data(session, text);
  SSL_set_verify(session, SSL_get_verify_mode(session), note);
}
