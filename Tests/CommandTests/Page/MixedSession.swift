/// A recording with something of all that a filter can ask for and the captures of this repository don't have.
enum MixedSession {
  private static func line(
    _ connection: Int, _ fields: String, from sender: String = "client",
    _ wire: String = "mqtt-5.0",
    at millisecond: Int
  ) -> String {
    let fraction = String(1_000_000 + millisecond * 1_000).dropFirst()
    return
      "{\"frame\":1,\"time\":\"2026-11-21T07:39:01.\(fraction)Z\",\"connection\":\(connection),"
      + "\"from\":\"\(sender)\",\"protocol\":\"\(wire)\",\(fields)}"
  }

  private static func publish(_ payload: String, _ topic: String = "t", _ rest: String = "")
    -> String
  {
    let text = payload.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"type\":\"PUBLISH\",\"length\":9,\"qos\":0,\"retain\":false,\"dup\":false,"
      + "\"topic\":\"\(topic)\",\"payload\":{\"utf8\":\"\(text)\"}\(rest)"
  }

  private static let payloads = [
    #"{"level":20.5,"on":true,"none":null,"code":"7"}"#,
    #"{"level": 21, "on": false, "items": [7, {"name": "b"}]}"#, #"{"level":"high"}"#,
    #"{"level":21"#, "", "21.5 degrees", "ünïcode",
  ]

  /// The whole recording.
  static let text = lines.joined(separator: "\n") + "\n"

  private static let lines: [String] = {
    let first = "\"firstFrame\":1,\"firstTime\":\"2026-11-21T07:39:01.000000Z\""
    let http = [
      line(
        1,
        "\"type\":\"OPEN\",\"client\":\"10.0.0.1:4000\",\"server\":\"[::1]:80\",\"fromStart\":true,"
          + first, "http", at: 0),
      line(
        1,
        #""type":"REQUEST","length":7,"exchange":1,"method":"GET","target":"/a?b=1","#
          + #""http":"HTTP/1.1","headers":[["Host","a"]],"payload":{"utf8":"{\"a\":1}"}"#,
        "http", at: 100),
      line(
        1,
        #""type":"RESPONSE","length":2,"exchange":1,"status":404,"reason":"Not Found","#
          + #""http":"HTTP/1.1","headers":[],"payload":{"utf8":"no"}"#, from: "server", "http",
        at: 200),
      line(
        1, #""type":"UNANSWERED","exchange":2,"cause":"timedOut","reason":"x""#, from: "server",
        "http", at: 300),
    ]
    let tls = [
      line(
        2,
        #""type":"TLS","client":"10.0.0.1:1","server":"10.0.0.2:8883","version":"TLS 1.3","#
          + #""obstacle":"no key""#, "tls", at: 400),
      line(2, #""type":"ALERT","level":"fatal","code":40"#, from: "server", "tls", at: 500),
      line(2, #""type":"ALERT","level":"warning","code":0"#, from: "server", "tls", at: 510),
    ]
    let alias = #","properties":{"topicAlias":1}"#
    let mqtt =
      [
        line(
          3,
          #""type":"CONNECT","length":24,"clientID":"sensor 7","cleanStart":true,"keepAlive":60,"#
            + #""username":"meter""#, at: 520),
        line(
          3,
          #""type":"CONNACK","length":3,"sessionPresent":false,"returnCode":135,"#
            + #""reasonCodes":[135]"#, from: "server", at: 530),
        line(3, publish("a", "a/b", alias), at: 540), line(3, publish("b", "", alias), at: 550),
        line(3, publish("c", "", alias), from: "server", at: 560),
        line(3, publish("d", "$SYS/x"), from: "server", at: 570),
        line(
          3,
          #""type":"PUBLISH","length":9,"qos":0,"retain":false,"dup":false,"topic":"bin","#
            + #""payload":{"base64":"/wBhbGFybQ=="}"#, at: 575),
      ] + payloads.enumerated().map { line(3, publish($1), at: 580 + $0) }
    let broken = [
      line(3, #""type":"GAP","bytes":12345,"reason":"unfilled""#, at: 700).replacing(
        "700000Z", with: "700000001Z"),
      line(
        3, #""type":"MALFORMED","error":{"code":"x","offset":3,"message":"it is bad"}"#, at: 800),
    ]
    return [SampleRecording.header] + http + tls + mqtt + broken
  }()
}
