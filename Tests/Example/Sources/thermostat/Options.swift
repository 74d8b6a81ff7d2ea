/// What is typed.
struct Options {
  /// What is typed wrongly.
  struct Misuse: Error {
    let message: String
  }

  /// Where the servers are, or what stands for them.
  enum Source: Equatable {
    /// Live servers, by their URLs.
    case servers(cloud: String, family: String?, weather: String?)
    /// Recordings of an earlier run, in a folder.
    case recordings(String)
    /// A capture of an earlier run.
    case capture(String)
    /// Answers written by hand, in a folder.
    case files(String)
  }

  static let usage = """
    usage: thermostat --cloud URL [--family URL] [--weather URL] [--record FOLDER]
           thermostat --replay FOLDER | --capture FILE | --files FOLDER
           with --every SECONDS (900) and --reports COUNT (32)
    """

  let source: Source
  /// The folder that a run on live servers is recorded in.
  let recordings: String?
  let interval: Duration
  let reports: Int

  init(_ words: some Sequence<String>) throws {
    var values = try Self.values(words)
    interval = .seconds(try Self.number("every", values.removeValue(forKey: "every") ?? "900"))
    reports = try Self.number("reports", values.removeValue(forKey: "reports") ?? "32")
    recordings = values.removeValue(forKey: "record")
    if let cloud = values.removeValue(forKey: "cloud") {
      source = .servers(
        cloud: cloud, family: values.removeValue(forKey: "family"),
        weather: values.removeValue(forKey: "weather"))
    } else if recordings != nil {
      throw Misuse(message: "--record goes with --cloud")
    } else if let folder = values.removeValue(forKey: "replay") {
      source = .recordings(folder)
    } else if let file = values.removeValue(forKey: "capture") {
      source = .capture(file)
    } else if let folder = values.removeValue(forKey: "files") {
      source = .files(folder)
    } else {
      throw Misuse(message: "a world is missing: --cloud, --replay, --capture or --files")
    }
    if let extra = values.keys.min() {
      throw Misuse(message: "--\(extra) does not go with the other options")
    }
  }

  private static let names = [
    "cloud", "family", "weather", "record", "replay", "capture", "files", "every", "reports",
  ]

  private static func values(_ words: some Sequence<String>) throws -> [String: String] {
    var values: [String: String] = [:]
    var words = words.makeIterator()
    while let word = words.next() {
      guard word.hasPrefix("--"), names.contains(String(word.dropFirst(2))) else {
        throw Misuse(message: "\(word) is no option")
      }
      guard let value = words.next() else { throw Misuse(message: "\(word) has no value") }
      guard values.updateValue(value, forKey: String(word.dropFirst(2))) == nil else {
        throw Misuse(message: "\(word) is given twice")
      }
    }
    return values
  }

  private static func number(_ name: String, _ text: String) throws -> Int {
    guard let number = Int(text), (1...86_400).contains(number) else {
      throw Misuse(message: "--\(name) is a whole number from 1 to 86400, not \(text)")
    }
    return number
  }
}
