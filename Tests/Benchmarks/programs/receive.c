/* The yardstick: how fast a bare loop of libmosquitto receives.
 *
 *     receive HOST PORT TOPIC COUNT
 *
 * Subscribes, says "ready", takes COUNT messages, and prints the seconds between the first and the last. */
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long wanted;
static long received;
static struct timespec first;

static void connected(struct mosquitto *client, void *topic, int code) {
  if (code == 0) mosquitto_subscribe(client, NULL, topic, 0);
}

static void subscribed(struct mosquitto *client, void *topic, int mid, int count, const int *granted) {
  (void)client, (void)topic, (void)mid, (void)count, (void)granted;
  puts("ready");
  fflush(stdout);
}

static void message(struct mosquitto *client, void *topic, const struct mosquitto_message *message) {
  (void)topic, (void)message;
  if (received++ == 0) clock_gettime(CLOCK_MONOTONIC, &first);
  if (received == wanted) mosquitto_disconnect(client);
}

int main(int count, char **arguments) {
  if (count != 5) {
    fputs("receive HOST PORT TOPIC COUNT\n", stderr);
    return 2;
  }
  wanted = atol(arguments[4]);
  mosquitto_lib_init();
  struct mosquitto *client = mosquitto_new(NULL, true, arguments[3]);
  if (!client) return 1;
  mosquitto_connect_callback_set(client, connected);
  mosquitto_subscribe_callback_set(client, subscribed);
  mosquitto_message_callback_set(client, message);
  if (mosquitto_connect(client, arguments[1], atoi(arguments[2]), 60)) return 1;
  while (mosquitto_loop(client, -1, 1) == MOSQ_ERR_SUCCESS) {}
  struct timespec last;
  clock_gettime(CLOCK_MONOTONIC, &last);
  printf("%.6f\n", (double)(last.tv_sec - first.tv_sec) + (double)(last.tv_nsec - first.tv_nsec) / 1e9);
  mosquitto_destroy(client);
  return received == wanted ? 0 : 1;
}
