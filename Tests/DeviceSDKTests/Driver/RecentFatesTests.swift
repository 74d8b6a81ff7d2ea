import Testing

@testable import DeviceSDK

@Suite("What became of the latest requests")
struct RecentFatesTests {
  @Test func forgetsTheOldestOfMoreThanAHundred() {
    var fates = RecentFates<Int, String>()
    for id in 0..<100 { #expect(fates.note(id, "answered \(id)") == nil) }
    #expect(fates[0] == "answered 0")
    #expect(fates.note(100, "given up") == 0)
    #expect(fates[0] == nil)
    #expect(fates[1] == "answered 1")
    #expect(fates[100] == "given up")
    #expect(fates.note(101, "given up") == 1)
  }

  @Test func takesALaterFateForTheSameRequest() {
    var fates = RecentFates<Int, String>()
    for id in 0..<100 { fates.note(id, "given up") }
    // It is one request still, so that none is forgotten for it, and no younger than it was.
    #expect(fates.note(0, "answered") == nil)
    #expect(fates[0] == "answered")
    #expect(fates.note(100, "answered") == 0)
    #expect(fates[0] == nil)
    #expect(fates[1] == "given up")
  }
}
