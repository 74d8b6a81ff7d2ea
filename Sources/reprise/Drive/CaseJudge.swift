import Capture
import ConformanceKit
import Driver
import RepriseCore
import Wire

/// Judges the recordings of cases to one report on the conduct of their subject.
struct CaseJudge {
  private let fresh: ConformanceJudge
  /// Judges what the driver does itself.
  private let freshOfDriver: ConformanceJudge
  private let subject: Peer
  private var joiner: ReportJoiner
  private(set) var records: [CaseRecord] = []
  /// The records of cases that were run and whose bytes were not cut, by their names.
  private var whole: [String: CaseRecord] = [:]

  /// Prepares to judge.
  /// - Parameter options: What is judged, and whose conduct.
  /// - Throws: ``ConformanceError`` for clauses that do not exist.
  init(_ options: ConformanceOptions) throws {
    var options = options
    options.isDriven = true
    subject = options.subject ?? .server
    fresh = try ConformanceJudge(catalogue: .bundled(), options: options)
    var ofDriver = options
    ofDriver.subject = subject.other
    // Whatever it breaks is a reason, be it asked for or not.
    ofDriver.clauses = []
    freshOfDriver = try ConformanceJudge(catalogue: .bundled(), options: ofDriver)
    joiner = ReportJoiner(options, toolVersion: Reprise.version)
    // The clauses are in the report also where nothing is judged.
    joiner.add(fresh.report(toolVersion: Reprise.version))
  }

  /// Hands the events of a recording to the judges.
  private final class Judging {
    var judge: ConformanceJudge
    var judgeOfDriver: ConformanceJudge
    var ends = FirstEnds()

    init(_ judge: ConformanceJudge, _ judgeOfDriver: ConformanceJudge, file: String) {
      self.judge = judge
      self.judgeOfDriver = judgeOfDriver
      self.judge.begin(file: file)
      self.judgeOfDriver.begin(file: file)
    }

    func take(_ event: borrowing EventView) {
      judge.consume(event)
      judgeOfDriver.consume(event)
      ends.consume(event)
    }
  }

  /// Takes what came of a case.
  /// - Parameters:
  ///   - result: What came of it.
  ///   - number: Its place in a run of all cases, from 1.
  ///   - file: What its recording is called.
  /// - Throws: ``CaptureError`` for a recording that can't be read.
  mutating func take(_ result: CaseResult, number: Int, in file: String) throws {
    let plan = result.plan
    var record = CaseRecord(
      number, name: plan.driven.name, run: plan.name, values: plan.shownValues, spec: plan.standard,
      file: file, clauses: plan.clauses)
    defer {
      records.append(record)
      if plan.cut == nil, result.isRun, !result.isHeldUp { whole[plan.name] = record }
    }
    if case .notApplicable(let why) = result.outcome {
      record.outcome = .notApplicable
      record.reason = why
      return
    }
    // It was not begun, as no broker could be started for it.
    if case .stopped(let why) = result.outcome, !result.isRun { return record.note(why) }
    let judging = Judging(fresh, freshOfDriver, file: file)
    try Self.read(result.recording) { judging.take($0) }
    let report = judging.judge.report(toolVersion: Reprise.version)
    record.ends = judging.ends.count(of: subject)
    record.isProvoked = judging.judgeOfDriver.report(toolVersion: Reprise.version).results
      .contains { $0.violated > 0 }
    if result.isHeldUp, record.doubts(report, heldUp: result.heldUp) { return }
    record.take(report, spec: plan.standard)
    switch result.outcome {
    case .done, .notApplicable: break
    case .late: record.note("it took longer than its \(plan.driven.seconds) s")
    case .stopped(let why): record.note(why)
    }
    if plan.cut != nil, !result.isHeldUp, let before = whole[plan.wholeName] {
      record.compare(with: before, of: subject)
    }
    joiner.add(report.naming(record))
  }

  /// The report on all that was taken.
  func report() -> ConformanceReport { joiner.report().adding(records) }

  /// Reads a recording in memory.
  static func read(
    _ recording: [UInt8], _ take: @escaping (borrowing EventView) throws -> Void
  ) throws {
    var reader = try CaptureReader(ByteSource(bytes: recording))
    var session = try FrameSession(live: InputOptions(), take)
    while let frame = try reader.next() { session.take(frame) }
    _ = try session.finish(frames: reader.framesRead)
  }
}

/// Which end ended each connection first: by a Close frame, by DISCONNECT, or by its end.
private struct FirstEnds {
  private var enders: [Int: Peer] = [:]

  mutating func consume(_ event: borrowing EventView) {
    let isEnd =
      switch event.body {
      case .closed: true
      case .webSocket(let frame): frame.opcode == .close
      case .mqtt(let packet): packet.type == .disconnect
      default: false
      }
    guard isEnd, enders[event.context.connection] == nil else { return }
    enders[event.context.connection] = event.context.sender
  }

  func count(of peer: Peer) -> Int { enders.values.count { $0 == peer } }
}
