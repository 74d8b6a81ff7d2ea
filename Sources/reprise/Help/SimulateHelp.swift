import CloudSimulator

/// What the scripts and the messages of `reprise simulate` look like, for users.
enum SimulateHelp {
  /// What `reprise help simulate-script` shows.
  static var script: String {
    """
    Changes the answers: reprise simulate URL --script FILE

    Every key may be left out, the first rule that fits is taken, and times are in seconds.

    For a broker, with topics that may be short or full, and have wildcards:
      {
        "tokens": { "stale": { "code": 2043 } },
        "replies": [
          { "topic": "/account/bind", "request": 1, "code": 2152 },
          { "topic": "/light/get", "data": { "on": true }, "after": 2.5 },
          { "topic": "/light/#", "request": [2, 3], "faults": ["duplicate"] }
        ],
        "pushes": [
          { "properties": { "LightSwitch": 1 }, "after": 3, "every": 5, "times": 10 },
          { "status": "offline", "on": "/light/set", "after": 1 },
          { "event": { "identifier": "Error", "type": "alert", "value": { "Code": 7 } } },
          { "binding": "Unbind", "device": "PRODUCT/DEVICE" },
          { "topic": "/thing/topo/add/status", "params": { "status": 0 } },
          { "topic": "/thing/model/down_raw", "payload": "any text", "qos": 0 }
        ],
        "refusedSubscriptions": ["/account/bind_reply"],
        "gateway": {
          "devices": [{ "device": "PRODUCT/DEVICE", "sign": "292f..." }],
          "loginsPerMinute": 5,
          "pushes": [{ "set": { "Power": 0 }, "subdevice": "PRODUCT/DEVICE", "after": 30 }]
        },
        "links": {
          "tokens": { "stale": { "code": 6 }, "short": { "lifetime": 60 } },
          "refusedChannels": { "secret": 7 },
          "lostChannels": ["gone"],
          "refusedTopics": { "board": 7 },
          "lostTopics": ["news"]
        }
      }

    Codes of "tokens" and "replies", and a "sessionError" of a gateway's pushes, are whole
    numbers or such in a string, "code": "2043", and are sent as they are written; those of
    "links" are numbers. A "message" beside a code of "tokens" or "replies" is sent with it.

    Faults of a reply: \(faults).
    drop-connection is for scenarios in process: no broker can be told to do it.

    For a server of requests, with services that may end with * for all that begin so:
      {
        "answers": [
          { "service": "nlu/analyze", "content": { "ret_code": "0000" }, "after": 2.5 },
          { "service": "nlu/*", "request": [2, 3], "faults": ["duplicate"] },
          { "service": "pay", "error": { "code": 2, "desc": "busy" } }
        ],
        "pushes": [
          { "json": { "service": "news" }, "after": 3, "every": 5, "times": 10 },
          { "text": "hello", "on": "nlu/analyze", "after": 1 },
          { "bytes": [1, 2, 3] }
        ],
        "login": "session/login",
        "answersHeartbeats": true,
        "envelope": { "id": "seq", "service": "path" }
      }
    Requests are counted on all connections; with "login", others are refused until that
    service was asked for. The "code" of an "error" is a whole number, not one in a string.
    The envelope has the keys of a client's own format (reprise help simulate-frames); errors
    and pushes go out as they stand here.

    Faults of an answer: \(requestFaults).

    """
  }

  /// What `reprise help simulate-frames` shows.
  static let frames = #"""
    What goes over the WebSocket of reprise simulate ws://HOST:PORT, or wss://

    A request is a text message, and so is its answer, which has uniqueId, service, method
    and product of the request:
      {"uniqueId": 7, "service": "nlu/analyze", "method": "POST", "product": "P",
       "content": "{\"text\":\"hello\"}"}
    uniqueId is a whole number, content a text that holds JSON, or JSON itself; method,
    product and content may be left out. The service system/heart-beat is answered without
    content. A refusal has "error": {"code": 4, "desc": "..."} in place of content. What is
    no request is not answered, and a note says why.

    A client may have other keys. The script's "envelope" tells them, and --envelope FILE the
    commands that read sessions: FILE has that script, or the envelope alone. All that it may
    have, as it is if it is left out:
      {"id": "uniqueId", "service": "service", "method": "method", "product": "product",
       "content": "content", "error": "error", "errorCode": "code", "errorMessage": "desc",
       "heartbeat": "system/heart-beat", "contentAsText": true}
    heartbeat is a service. With contentAsText false both ends write content as JSON itself.

    """#

  /// The names of the faults that a real broker can have, in lines of the help.
  private static var faults: String {
    list(CloudFault.allCases.filter { $0 != .dropConnection }.map(\.rawValue))
  }

  /// The names of the faults of a server of requests, in lines of the help.
  private static var requestFaults: String { list(RequestFault.allCases.map(\.rawValue)) }

  private static func list(_ names: [String]) -> String {
    names.enumerated().map { index, name in
      name + (index == names.count - 1 ? "" : index == 5 ? ",\n" : ", ")
    }.joined()
  }
}
