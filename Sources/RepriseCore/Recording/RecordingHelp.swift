/// The description of the format of recordings, for users.
package enum RecordingHelp {
  /// What `reprise help recording` shows.
  package static let text = #"""
    A recording is text: one JSON object a line, UTF-8. The first line says what it is,
    every other line is one event, as `inspect --format jsonl` prints it; what that
    prints, without a first line and with the key `file`, is read as well.

    First line:
      reprise      the version of the format: 1
      created      when it was made
      source       {kind: client | interface | proxy | capture, and url, file, ... of it}
      redacted     the rules by which something was hidden: password, secrets, username,
                   correlation, key:NAME, topic:FILTER
      Keys that are not known are kept, a version that is not known is refused.

    Every event:
      frame        the number of the capture's frame that completed it; in a recording
                   the number of the line
      time         2026-11-21T07:39:01.123456Z
      connection   its number in the file, from 1, in the order of recognition
      from         client or server
      protocol     mqtt-3.1, mqtt-3.1.1, mqtt-5.0, mqtt (no CONNECT seen), websocket,
                   http
      inferred     the version by which packets of `mqtt` are laid out
      over         websocket, of MQTT in its frames
      order        uncertain, where it can't be told from the capture whether what the other
                   side sent came before or after
      type         the name of the packet, frame or event, in capitals
      errors       [{code, field, offset, message}]: what breaks a rule of the format
      moreErrors   how many more errors there are than are listed
      missing      how many bytes of the packet or frame are not in the capture
      bytes        the captured bytes in base64, where the other keys don't give them
      leftOut      {client, server}: how many events of the connection that each of them
                   sent were left out in front of this one, because only some were
                   chosen. They count as missing, and so does what came behind the last line
                   of a connection that has no CLOSE
      Where `bytes` is left out the packet is encoded from the other keys; so a line can
      be written, or changed, by hand.

    Connections and losses:
      OPEN         client, server (addresses), fromStart, firstFrame, firstTime,
                   evidence (what a recognition stands on), pings
      CLOSE        how (fin, reset, end-of-capture), firstFrame, firstTime, reason,
                   answered (false where the other end is not seen to answer), late (true
                   where something that was sent arrived more than a second later),
                   merged (true where the capture was put together of two by clocks that
                   differ),
                   clientSilence (nanoseconds: the longest time for which the client is known
                   to have sent nothing, where it was captured away from it), clientRest
                   and serverRest (nanoseconds: how long before its end each was last seen
                   not to have ended it, where it was captured away from it)
      ATTEMPT      how (failed: there never was a connection; given-up: the client left
                   before the server answered; end-of-capture), server, firstTime (when
                   it was asked for), reason, cause (noNetwork: this machine had none; it is
                   left out for all others); of MQTT the fields of the CONNECT that was
                   not, or not known to be, sent. In recordings of clients alone, for
                   replays: no clause judges it
      GAP          bytes (a number: how many were lost), reason; with the reason left-out
                   bytes is 0, as nobody counted them; with not-mqtt they are there, but
                   of another protocol; with altered bytes is 0, and from there on a proxy
                   passed on something else than this end sent, see record proxy --fault
      MALFORMED    error {code, offset, message}: bytes that are no packet
      TLS          client, server, version, cipherSuite, serverName (SNI), offers and chosen
                   (ALPN); obstacle and remedy where it was not decrypted, then it is the
                   only event of its connection but for its alerts
      ALERT        level (fatal, warning), code, name, meaning: an alert of TLS

    Packets of MQTT, all with length (the remaining length) and properties, if any, by
    their names of MQTT 5.0 in lowerCamelCase; userProperty is a list of pairs:
      CONNECT      clientID cleanStart keepAlive bridge username password
                   will {topic, payload, qos, retain, properties}
      CONNACK      sessionPresent returnCode reasonCodes
      PUBLISH      packetID qos retain dup topic payload
      PUBACK ...   packetID reasonCodes; so do PUBREC PUBREL PUBCOMP
      SUBSCRIBE    packetID filters [{filter, qos, noLocal, retainAsPublished,
                   retainHandling}]; UNSUBSCRIBE: filters [{filter}]
      SUBACK       packetID reasonCodes (a list, one a filter); so does UNSUBACK
      DISCONNECT   reasonCodes; so does AUTH

    WebSocket:
      UPGRADE      method target http host subprotocols extensions headers (pairs)
      UPGRADED     status reason http subprotocol extensions headers; REFUSED likewise
      TEXT BINARY CONTINUATION PING PONG CLOSE: length fin masked maskingKey rsv payload
                   compressed notInflated carries concealed closeCode closeReason; opcode
                   of one that is not defined

    HTTP, all with exchange: the number that a request and its answers have in common, from
    1 on each connection; in captures with --decode PORT=http only:
      REQUEST      length (of the body) method target http headers (pairs) payload, which
                   is the body without its chunks; decoded: true where a coding such as
                   gzip was undone. In recordings of clients the headers that it needs
      RESPONSE     length status reason http headers payload decoded
      UNANSWERED   cause (noNetwork, unreachable, nameNotResolved, timedOut, notTrusted, lost,
                   malformed, other), reason; in recordings of clients

    A payload is {"utf8": text}, or {"base64": bytes} where it is no UTF-8. "***" stands
    for what is hidden: passwords, tokens, signatures, and what --redact names.

    Of a packet, frame or body of more than 16 MiB (SUBSCRIBE, SUBACK, UNSUBSCRIBE and
    UNSUBACK: 512 KiB) the line has the start; the rest is `missing`, and a GAP behind it
    says so.

    """#
}
