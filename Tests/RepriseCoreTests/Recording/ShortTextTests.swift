import Testing

@testable import RepriseCore

/// Texts that are put together where they are to stand: nothing of them is lost at a limit.
@Suite struct ShortTextTests {
  @Test(arguments: [0, 9, 10, 99, 100, -1, -10, Int.max, Int.min] + powersOfTen)
  func writesWholeNumbers(_ number: Int) {
    var bytes: [UInt8] = []
    bytes.append(decimal: number)
    #expect(String(decoding: bytes, as: UTF8.self) == "\(number)")
  }

  /// Every number of digits that there is, and the last number with one digit less.
  static let powersOfTen = (1...18).flatMap { digits in
    let power = (0..<digits).reduce(1) { power, _ in power * 10 }
    return [power - 1, power]
  }

  @Test(arguments: [
    (Int64.min, "1677-09-21T00:12:43.145224192Z"), (-1, "1969-12-31T23:59:59.999999999Z"),
    (0, "1970-01-01T00:00:00.000000Z"), (1_000, "1970-01-01T00:00:00.000001Z"),
    (1_010, "1970-01-01T00:00:00.000001010Z"), (.max, "2262-04-11T23:47:16.854775807Z"),
  ])
  func writesMoments(nanoseconds: Int64, text: String) {
    #expect(Timestamp(nanoseconds: nanoseconds).description == text)
  }

  /// Texts around the length at which they are escaped in pieces, of characters that take the most.
  @Test(arguments: [1, 169, 170, 171, 340, 341, 5_000])
  func escapesTextsOfAnyLength(_ count: Int) throws {
    let text = String(repeating: "\u{1}", count: count)
    var bytes: [UInt8] = []
    bytes.append(quoted: text)
    #expect(bytes.count == 6 * count + 2)
    #expect(try JSONParser.parse(bytes.span.bytes) == .string(text))
  }
}
