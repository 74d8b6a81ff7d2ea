import RepriseCore
import Testing

@testable import DeviceSDK

@Suite("The book of open actions")
struct ActionBookTests {
  @Test func tellsOnceWhatAnActionWasFor() {
    var book = ActionBook<String>()
    let one = book.open(for: "one")
    let two = book.open(for: "two")
    let unasked = book.open(for: nil)
    #expect([one, two, unasked].map(\.rawValue) == [1, 2, 3])
    #expect(book.close(two) == "two")
    #expect(book.close(two) == nil)
    #expect(book.close(unasked) == nil)
    #expect(book.purposes == [one: "one"])
  }

  @Test func givesNoNumberOfAnOpenActionAgain() {
    var book = ActionBook<String>()
    let open = book.open(for: "open")
    let closed = book.open(for: "closed")
    #expect(book.close(closed) == "closed")
    book.last = .max - 1
    // The largest number is kept free.
    #expect(book.open(for: "zero").rawValue == 0)
    // 1 is open still; 2 is not.
    #expect(book.open(for: "next") == closed)
    #expect(book.purposes[open] == "open")
  }
}
