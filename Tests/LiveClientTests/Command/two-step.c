// A plugin of mosquitto that lets clients in by methods of authentication of its own, in one step, in two or in three.
//
// Of the method "two-step" the data "open" is enough, "more" is asked for more, which "open" answers then; all other
// data is refused. "late-step" asks twice, whatever the data, and decides by the last, which has to be "open". What they
// ask by is "which?".

#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#include <mosquitto.h>
#include <string.h>

static mosquitto_plugin_id_t *plugin;

static int is(const struct mosquitto_evt_extended_auth *event, const char *text) {
  return event->data_in_len == strlen(text) && !memcmp(event->data_in, text, strlen(text));
}

// Those of whom "late-step" asks once more.
enum { MOST = 64 };
static const struct mosquitto *asked[MOST];

static int replace(const struct mosquitto *client, const struct mosquitto *by) {
  for (int index = 0; index < MOST; index++) {
    if (asked[index] != client) continue;
    asked[index] = by;
    return 1;
  }
  return 0;
}

static int ask(struct mosquitto_evt_extended_auth *event) {
  static const char question[] = "which?";
  event->data_out_len = sizeof question - 1;
  // The broker frees it.
  event->data_out = mosquitto_malloc(event->data_out_len);
  if (!event->data_out) return MOSQ_ERR_NOMEM;
  memcpy(event->data_out, question, event->data_out_len);
  return MOSQ_ERR_AUTH_CONTINUE;
}

static int decide(const struct mosquitto_evt_extended_auth *event) {
  return is(event, "open") ? MOSQ_ERR_SUCCESS : MOSQ_ERR_AUTH;
}

// The broker says no method here (2.0.11); it has checked that it is that of the start.
static int go_on(int kind, void *data, void *user) {
  struct mosquitto_evt_extended_auth *event = data;
  (void)kind, (void)user;
  return replace(event->client, NULL) ? ask(event) : decide(event);
}

static int start(int kind, void *data, void *user) {
  struct mosquitto_evt_extended_auth *event = data;
  (void)kind, (void)user;
  if (!strcmp(event->auth_method, "late-step"))
    return replace(NULL, event->client) ? ask(event) : MOSQ_ERR_NOMEM;
  if (strcmp(event->auth_method, "two-step")) return MOSQ_ERR_NOT_SUPPORTED;
  return is(event, "more") ? ask(event) : decide(event);
}

int mosquitto_plugin_version(int count, const int *versions) {
  for (int index = 0; index < count; index++)
    if (versions[index] == 5) return 5;
  return -1;
}

int mosquitto_plugin_init(
    mosquitto_plugin_id_t *identifier, void **user, struct mosquitto_opt *options, int count) {
  (void)user, (void)options, (void)count;
  plugin = identifier;
  int result = mosquitto_callback_register(plugin, MOSQ_EVT_EXT_AUTH_START, start, NULL, NULL);
  if (result) return result;
  return mosquitto_callback_register(plugin, MOSQ_EVT_EXT_AUTH_CONTINUE, go_on, NULL, NULL);
}

int mosquitto_plugin_cleanup(void *user, struct mosquitto_opt *options, int count) {
  (void)user, (void)options, (void)count;
  mosquitto_callback_unregister(plugin, MOSQ_EVT_EXT_AUTH_START, start, NULL);
  return mosquitto_callback_unregister(plugin, MOSQ_EVT_EXT_AUTH_CONTINUE, go_on, NULL);
}
