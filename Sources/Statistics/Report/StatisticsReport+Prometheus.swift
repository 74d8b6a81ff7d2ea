extension StatisticsReport {
  /// All figures in the text format of Prometheus, version 0.0.4: for the textfile collector of its node exporter.
  ///
  /// Labels that hold names of topics and clients have the `--top` most frequent of them as values, and no others.
  package var prometheus: String {
    var text = ""
    var last = ""
    for figure in figures {
      let name = "reprise_" + figure.family + (figure.kind == .counter ? "_total" : "")
      if name != last {
        text += "# HELP \(name) \(Self.help[figure.family] ?? figure.family)\n"
        text += "# TYPE \(name) \(figure.kind.rawValue)\n"
        last = name
      }
      let labels = figure.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
      text += name + figure.suffix
      text += (labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}") + " "
      text += figure.value + "\n"
    }
    return text
  }

  private static func escaped(_ value: String) -> String {
    var text = ""
    for character in value.unicodeScalars {
      switch character {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }

  private static let help = [
    "files": "Files that were read.",
    "capture_seconds": "Time from the first event to the last, of all files together.",
    "connections": "Connections that were seen.",
    "messages": "Messages, by type.",
    "message_bytes": "Bytes of messages, with the headers of their protocol.",
    "message_payload_bytes": "Bytes of payloads.",
    "publishes": "PUBLISH packets, by QoS.",
    "publishes_retained": "PUBLISH packets with RETAIN.",
    "publishes_duplicate": "PUBLISH packets with DUP.",
    "connection_ends": "Connections that ended, by what ended them.",
    "client_connections": "Connections of a client.",
    "client_messages": "Messages of a client's connections.",
    "client_bytes": "Bytes of a client's connections.",
    "client_pings": "PINGREQ packets of a client.",
    "client_connected_seconds": "Time that a client was connected.",
    "client_longest_silence_seconds": "Longest time between two packets of a client.",
    "client_silences_beyond_keep_alive":
      "Times between packets that were longer than one and a half times the keep-alive.",
    "topic_messages": "PUBLISH packets to a topic.",
    "topic_payload_bytes": "Bytes of payloads to a topic.",
    "topic_median_interval_seconds": "Median of the times between two messages to a topic.",
    "questions": "Packets that ask for an answer.",
    "questions_unanswered": "Questions without an answer when their connection was closed.",
    "questions_open": "Questions without an answer when the capture ended.",
    "questions_undecided": "Questions of which the capture does not tell.",
    "answer_seconds": "Time from a question to its answer.",
    "problems": "What was refused, broken or missing.",
    "missing_bytes": "Bytes that are missing from the capture.",
    "given_up_connections": "Connections that were given up for lack of memory.",
    "given_up_questions": "Questions that were given up for lack of memory.",
    "unknown_topics": "PUBLISH packets whose topic alias is not known.",
  ]
}
