#include "CConformance.h"

// SwiftPM's embedInCode makes an array literal of a file, for which the Swift compiler takes a minute
// a catalogue; #embed takes no time, and the binary needs no file beside it all the same.
static const unsigned char mqtt_3_1_1[] = {
#embed "../../Conformance/mqtt-3.1.1.json"
};

static const unsigned char mqtt_5_0[] = {
#embed "../../Conformance/mqtt-5.0.json"
};

static const unsigned char rfc6455[] = {
#embed "../../Conformance/rfc6455.json"
};

static const unsigned char sdk_channel[] = {
#embed "../../Conformance/sdk/channel.json"
};

static const unsigned char sdk_requests[] = {
#embed "../../Conformance/sdk/requests.json"
};

static const unsigned char sdk_gateway[] = {
#embed "../../Conformance/sdk/gateway.json"
};

static const unsigned char sdk_link[] = {
#embed "../../Conformance/sdk/link.json"
};

struct conformance_data conformance_mqtt_3_1_1(void) {
  return (struct conformance_data){mqtt_3_1_1, sizeof mqtt_3_1_1};
}

struct conformance_data conformance_mqtt_5_0(void) {
  return (struct conformance_data){mqtt_5_0, sizeof mqtt_5_0};
}

struct conformance_data conformance_rfc6455(void) {
  return (struct conformance_data){rfc6455, sizeof rfc6455};
}

struct conformance_data conformance_sdk_channel(void) {
  return (struct conformance_data){sdk_channel, sizeof sdk_channel};
}

struct conformance_data conformance_sdk_requests(void) {
  return (struct conformance_data){sdk_requests, sizeof sdk_requests};
}

struct conformance_data conformance_sdk_gateway(void) {
  return (struct conformance_data){sdk_gateway, sizeof sdk_gateway};
}

struct conformance_data conformance_sdk_link(void) {
  return (struct conformance_data){sdk_link, sizeof sdk_link};
}
