#ifndef CCONFORMANCE_H
#define CCONFORMANCE_H

#include <stddef.h>

#include "prefetch.h"

/// The bytes of a file of the folder Conformance, as they were when this was compiled.
struct conformance_data {
  const unsigned char *bytes;
  size_t count;
};

/// Returns the catalogue of MQTT 3.1.1.
struct conformance_data conformance_mqtt_3_1_1(void);

/// Returns the catalogue of MQTT 5.0.
struct conformance_data conformance_mqtt_5_0(void);

/// Returns the catalogue of RFC 6455.
struct conformance_data conformance_rfc6455(void);

/// Returns the catalogue of the SDK's channel.
struct conformance_data conformance_sdk_channel(void);

/// Returns the scenarios of the SDK's channel, an array of what stands in their files.
struct conformance_data conformance_sdk_channel_scenarios(void);

/// Returns the catalogue of the SDK's requests.
struct conformance_data conformance_sdk_requests(void);

/// Returns the scenarios of the SDK's requests, an array of what stands in their files.
struct conformance_data conformance_sdk_requests_scenarios(void);

/// Returns the catalogue of the SDK's gateway.
struct conformance_data conformance_sdk_gateway(void);

/// Returns the scenarios of the SDK's gateway, an array of what stands in their files.
struct conformance_data conformance_sdk_gateway_scenarios(void);

/// Returns the catalogue of the SDK's links.
struct conformance_data conformance_sdk_link(void);

/// Returns the scenarios of the SDK's links, an array of what stands in their files.
struct conformance_data conformance_sdk_link_scenarios(void);

/// Returns the cases of brokers, an array of what stands in their files.
struct conformance_data conformance_broker_cases(void);

/// Returns the cases of clients, an array of what stands in their files.
struct conformance_data conformance_client_cases(void);

/// Returns the cases of WebSocket, an array of what stands in their files.
struct conformance_data conformance_web_socket_cases(void);

#endif
