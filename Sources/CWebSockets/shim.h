#include <libwebsockets.h>

/* LWS_PRE is a macro that Swift can't read: the room that lws_write wants in front of what it sends. */
enum { websocket_prefix_size = LWS_PRE };
