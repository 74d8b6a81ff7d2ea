/// The description of the filter language, for users.
package enum FilterHelp {
  /// The names that `type` takes, in the order in which a mistake lists them.
  package static let eventTypes = FilterEventType.names

  /// What `reprise help filter` shows.
  package static let text = #"""
    Chooses events: reprise inspect --filter EXPRESSION

    Fields:
      type         PUBLISH, CONNECT, ... or OPEN, CLOSE, ATTEMPT, GAP, MALFORMED;
                   of WebSocket UPGRADE, UPGRADED, REFUSED, TEXT, BINARY,
                   CONTINUATION, PING, PONG, and again CLOSE; of HTTP REQUEST,
                   RESPONSE, UNANSWERED
      from         client or server
      connection   the number of the connection
      client       the client identifier of the connection
      username     the user name of the connection's client
      address      the address of either end of the connection, without its port
      port         the port of either end
      topic        the topic of a PUBLISH, also where an alias stands for it
      filter       a filter of a SUBSCRIBE or UNSUBSCRIBE
      payload      the payload of a PUBLISH or of a WebSocket frame, or the body of a
                   message of HTTP; where it is JSON,
                   payload.KEY is a member of it, payload.items.0.level one further in
      qos          the QoS of a PUBLISH
      id           the packet identifier, or the number of an exchange over HTTP
      length       the remaining length, or the length of a frame's payload or of a
                   body
      method       the method of a REQUEST: GET
      target       what a REQUEST asks for: path and query
      code         a return or reason code, also by its name, see below; the code of a
                   WebSocket CLOSE, or the status of UPGRADED, REFUSED and RESPONSE
      frame        the number of the frame, or of a recording's line
      time         2026-11-21T07:39:01Z, 07:39:01.5 (time of day, UTC),
                   +2s (since the first event of the file; ms, s, m, h)
      protocol     mqtt-3.1, mqtt-3.1.1, mqtt-5.0, or mqtt where no CONNECT was seen;
                   websocket, http
      over         websocket, of MQTT that comes in its frames
      retain, dup  whether a PUBLISH has the flag
      fin, masked  whether a WebSocket frame ends a message, and whether it is masked
      fault        whether the event breaks a rule of the format, or lacks bytes

    Comparisons:
      ==  !=  <  <=  >  >=
      topic ~ "a/+/c"            matches the topic filter of MQTT
      payload contains "alarm"   has the text in it; also topic, filter, client, username,
                                 method, target
      qos in [1, 2]              is one of these

    Conditions are joined by and (&&), or (||), not (!) and parentheses; and binds more
    than or. The name of a type alone stands for type == NAME, and a flag alone for true.
    Quotes are needed only for texts with spaces or signs. A condition on a field that an
    event does not have is false, != too.

    Names of codes are those of MQTT 5.0 and 3.1.1, and mean the code in every version.
    They are compared by == and !=, in any case, with hyphens or in quotes:
    \#(names)

    Examples:
      PUBLISH and topic ~ plant/+/alarm and qos > 0
      type in [CONNECT, CONNACK, DISCONNECT] or CLOSE
      payload.level > 20.5 and payload.state in [on, "off"]
      port == 1883 and username == meter
      client == "sensor 7" and time >= +10s and time < +1m
      (PUBACK or SUBACK) and code >= 0x80
      CONNACK and code != success
      fault

    """#

  /// The names of codes, in lines of the help.
  private static var names: String {
    var lines = [""]
    for name in FilterReason.all.map(\.name) {
      if lines[lines.count - 1].count + name.count > 85 { lines.append("") }
      lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "  " : " ") + name + ","
    }
    return String(lines.joined(separator: "\n").dropLast())
  }
}
