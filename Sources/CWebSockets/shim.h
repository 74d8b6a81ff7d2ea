#include <libwebsockets.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

/* LWS_PRE is a macro that Swift can't read: the room that lws_write wants in front of what it sends. */
enum { websocket_prefix_size = LWS_PRE };

/* The parameters of permessage-deflate (RFC 7692 section 7.1), by which the library reads a server's answer: a table
   that is never written to, and that stays where it is. */
static inline const struct lws_ext_options *websocket_deflate_options(void) {
  static const struct lws_ext_options options[] = {
      {"server_no_context_takeover", EXTARG_NONE},
      {"client_no_context_takeover", EXTARG_NONE},
      {"server_max_window_bits", EXTARG_OPT_DEC},
      {"client_max_window_bits", EXTARG_OPT_DEC},
      {NULL, 0},
  };
  return options;
}
