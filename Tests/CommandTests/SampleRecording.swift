/// A recording for tests: text, so that a test shows what the command reads.
enum SampleRecording {
  static let header = #"{"reprise":1,"source":{"kind":"client"},"redacted":[]}"#

  static func line(_ fields: String, from sender: String = "client", second: Int = 1) -> String {
    let time = "2026-11-21T07:39:0\(second).000000Z"
    return "{\"frame\":1,\"time\":\"\(time)\",\"connection\":1,\"from\":\"\(sender)\","
      + "\"protocol\":\"mqtt-3.1.1\",\(fields)}"
  }

  static let connect = line(
    #""type":"CONNECT","length":24,"clientID":"c","cleanStart":true,"keepAlive":60,"#
      + #""username":"u","password":{"utf8":"geheim"}"#)
  static let connack = line(
    #""type":"CONNACK","length":2,"sessionPresent":false,"returnCode":0"#, from: "server")
  static let publish = line(
    #""type":"PUBLISH","length":9,"qos":0,"retain":false,"dup":false,"topic":"a/b","#
      + #""payload":{"utf8":"21.5"}"#, second: 2)

  static let text = [header, connect, connack, publish].joined(separator: "\n") + "\n"

  /// A recording with many messages.
  static func long(_ count: Int) -> String {
    text + String(repeating: publish + "\n", count: count)
  }
}
