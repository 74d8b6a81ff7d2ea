#include "CConformance.h"

// The cases of brokers, as one array of JSON: a line a file.
static const unsigned char broker[] = {
    '[',
#embed "../../Conformance/broker/connect.json" suffix(, ']')
};

struct conformance_data conformance_broker_cases(void) {
  return (struct conformance_data){broker, sizeof broker};
}
