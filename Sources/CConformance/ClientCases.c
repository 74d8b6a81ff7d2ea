#include "CConformance.h"

// The cases of clients, as one array of JSON: a line a file.
static const unsigned char client[] = {
    '[',
#embed "../../Conformance/client/acknowledged-by-error.json" suffix(, ',', )
#embed "../../Conformance/client/acknowledged-late.json" suffix(, ',', )
#embed "../../Conformance/client/alias-beyond-maximum.json" suffix(, ',', )
#embed "../../Conformance/client/alias-unknown.json" suffix(, ',', )
#embed "../../Conformance/client/aliases-unavailable.json" suffix(, ',', )
#embed "../../Conformance/client/auth-unasked.json" suffix(, ',', )
#embed "../../Conformance/client/authentication.json" suffix(, ',', )
#embed "../../Conformance/client/connect.json" suffix(, ',', )
#embed "../../Conformance/client/connect-without-answer.json" suffix(, ',', )
#embed "../../Conformance/client/deliver.json" suffix(, ',', )
#embed "../../Conformance/client/deliver-after-reconnect.json" suffix(, ',', )
#embed "../../Conformance/client/deliver-again.json" suffix(, ',', )
#embed "../../Conformance/client/deliver-before-suback.json" suffix(, ',', )
#embed "../../Conformance/client/deliver-in-order.json" suffix(, ',', )
#embed "../../Conformance/client/deliver-what-was-not-asked-for.json" suffix(, ',', )
#embed "../../Conformance/client/disconnect.json" suffix(, ',', )
#embed "../../Conformance/client/disconnect-left-open.json" suffix(, ',', )
#embed "../../Conformance/client/malformed.json" suffix(, ',', )
#embed "../../Conformance/client/malformed-as-it-may.json" suffix(, ',', )
#embed "../../Conformance/client/maximum-packet-size.json" suffix(, ',', )
#embed "../../Conformance/client/maximum-qos.json" suffix(, ',', )
#embed "../../Conformance/client/ping.json" suffix(, ',', )
#embed "../../Conformance/client/publish.json" suffix(, ',', )
#embed "../../Conformance/client/publish-again.json" suffix(, ',', )
#embed "../../Conformance/client/publish-again-in-order.json" suffix(, ',', )
#embed "../../Conformance/client/pubrec-again.json" suffix(, ',', )
#embed "../../Conformance/client/receive-maximum.json" suffix(, ',', )
#embed "../../Conformance/client/release.json" suffix(, ',', )
#embed "../../Conformance/client/release-again.json" suffix(, ',', )
#embed "../../Conformance/client/released-late.json" suffix(, ',', )
#embed "../../Conformance/client/retain-unavailable.json" suffix(, ',', )
#embed "../../Conformance/client/server-keep-alive.json" suffix(, ']')
};

struct conformance_data conformance_client_cases(void) {
  return (struct conformance_data){client, sizeof client};
}
