#include "CConformance.h"

// The cases of clients, as one array of JSON: a line a file.
static const unsigned char client[] = {
    '[',
#embed "../../Conformance/client/ping.json" suffix(, ']')
};

struct conformance_data conformance_client_cases(void) {
  return (struct conformance_data){client, sizeof client};
}
