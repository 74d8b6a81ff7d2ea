import RepriseCore
import Testing

@testable import ConformanceKit

@Suite("Pauses of a whole capture")
struct PauseWatchTests {
  @Test("A pause is what lies between the latest event and the next one, of more than 1.5 s")
  func lengths() {
    var watch = PauseWatch()
    let seconds = [10, 11, 12.5, 14.1, 13, 15.5, 20].map { (time: Double) in
      Double(watch.take(Timestamp(nanoseconds: Int64(time * 1e9))).pause) / 1e9
    }
    #expect(seconds == [0, 0, 0, 1.6, 0, 0, 4.5])
  }

  @Test("So many connections are looked at as there were events for, and a first million")
  func visits() {
    var watch = PauseWatch()
    let before = [1 << 20, 1].map { watch.visit($0) }
    _ = watch.take(Timestamp(nanoseconds: 0))
    let behind = [64, 1].map { watch.visit($0) }
    #expect(before + behind == [true, false, true, false])
  }
}
