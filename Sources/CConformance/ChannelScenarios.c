#include "CConformance.h"

// The scenarios of the channel, as one array of JSON: a line a file.
static const unsigned char channel[] = {
    '[',
#embed "../../Conformance/sdk/channel/back-off.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/back-off-reset.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/before-connected.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/bind.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/bind-lock-held.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/bind-throttled.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/bind-token-refused.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-bind.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-error-code.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-late-reply.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-no-reply.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-properties.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-reply-twice.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-request.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/cloud-wrong-id.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/covered-reply-topic.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/extra-parameters.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/kicked-out.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/listeners.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/losses.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/lost-while-waiting.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/messages.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/narrow-subscription.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/publish.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/refused-3.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/refused-4.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/refused-5.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/reply-topic-refused.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/reply-topic-shared.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/reply-topic-unanswered.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/reply-twice.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/reply-unknown.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/request.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/request-crossing.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/request-timeout.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/restore.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/slow-kicks.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/start.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/start-twice.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/stop.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/stop-between-tries.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/topics.json" suffix(, ',', )
#embed "../../Conformance/sdk/channel/wildcards.json" suffix(, ']')
};

struct conformance_data conformance_sdk_channel_scenarios(void) {
  return (struct conformance_data){channel, sizeof channel};
}
