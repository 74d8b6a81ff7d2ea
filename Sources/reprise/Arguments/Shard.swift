import ConformanceKit
import Glibc

extension OptionSpec {
  static let shard = OptionSpec(
    name: "shard", value: "I/N",
    help: "Judges the I-th of N parts of the files, chosen by what is in them: 3/16.")
  static let scenarioShard = OptionSpec(
    name: shard.name, value: "I/N",
    help: "Runs the I-th of N parts of the scenarios, chosen by their names: 3/16.")
  static let caseShard = OptionSpec(
    name: shard.name, value: "I/N",
    help: "Runs the I-th of N parts of the cases, chosen by their names: 3/16.")
}

/// A part of a set of files, of scenarios or of cases, for one of several machines.
///
/// What is in a file decides the part that it belongs to, so that neither its name nor the other files do. Of a scenario
/// or a case it is the name, and neither what it says nor the others.
struct Shard {
  /// Which part, from 0.
  private let index: UInt64
  /// How many there are.
  private let count: UInt64

  /// How much of a file is looked at, besides its size.
  private static let looked = 1 << 16

  /// Takes the part that was asked for; nil if all files were.
  /// - Throws: ``UsageError`` for what is no part.
  init?(_ arguments: Arguments) throws(UsageError) {
    guard let text = arguments.value(.shard) else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]),
      (1...count).contains(index)
    else {
      throw UsageError(
        "--shard can't be '\(text)'", "type which part of how many, counted from 1: 3/16")
    }
    self.index = index - 1
    self.count = count
  }

  private static func number(_ text: Substring) -> UInt64? {
    guard text.first?.isASCII == true, text.first?.isNumber == true, let number = UInt64(text)
    else { return nil }
    return (1...65_536).contains(number) ? number : nil
  }

  /// Picks the files of the part, in their order.
  /// - Returns: Their places among all.
  /// - Throws: ``UsageError`` for standard input, which no other machine has.
  func places(of all: [String]) throws(UsageError) -> [Int] {
    guard !all.contains("-") else {
      throw UsageError("--shard can't take a part of standard input", "name files")
    }
    return all.indices.filter { Self.hash(all[$0]) % count == index }
  }

  /// Picks the scenarios of the part, in their order.
  func scenarios(of all: [Scenario]) -> [Scenario] {
    all.filter { takes("\($0.system.rawValue)/\($0.name)") }
  }

  /// Whether what has a name is of the part.
  /// - Parameter name: The name.
  /// - Returns: True if it is.
  func takes(_ name: String) -> Bool {
    var hash = FNV()
    hash.add(name.utf8)
    return hash.value % count == index
  }

  /// The part as reports name it.
  /// - Parameters:
  ///   - cases: How many scenarios all parts have, each counted once a world, or cases; nil for files.
  ///   - places: Where its files stand among all; nil for scenarios and cases.
  /// - Returns: The part.
  func named(cases: Int? = nil, places: [Int]? = nil) -> ReportShard? {
    // Both are at most 65,536.
    ReportShard(Int(index) + 1, of: Int(count), cases: cases, places: places)
  }

  /// A number made of a file's size and beginning; of its name where it can't be read, so that one part tells that.
  private static func hash(_ path: String) -> UInt64 {
    var hash = FNV()
    guard let file = fopen(path, "rb") else {
      hash.add(path.utf8)
      return hash.value
    }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: looked)
    let read = fread(&bytes, 1, looked, file)
    hash.add(bytes.prefix(read))
    var status = stat()
    if fstat(fileno(file), &status) == 0 { hash.add("\(status.st_size)".utf8) }
    return hash.value
  }
}

/// The hash of Fowler, Noll and Vo, which is the same everywhere and always.
private struct FNV {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0100_0000_01B3 }
  }
}
