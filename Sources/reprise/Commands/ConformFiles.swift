import Capture
import ConformanceKit
import Glibc
import RepriseCore

/// Judges files, several at a time, to one report that is the same however many.
struct ConformFiles {
  private let run: InputRun
  private let judging: ConformanceOptions
  private let console: Console?
  private let catalogue: Catalogue

  /// Prepares to judge files.
  /// - Parameters:
  ///   - run: The files, and how they are read.
  ///   - judging: What is judged, and how.
  ///   - console: How to tell the user about errors and notes; nil is not at all.
  /// - Throws: ``ConformanceError`` for clauses that do not exist.
  init(_ run: InputRun, _ judging: ConformanceOptions, _ console: Console?) throws {
    self.run = run
    self.judging = judging
    self.console = console
    catalogue = try Catalogue.bundled()
    // Said before anything is read; a judge that is made for that alone would be as much as a small file.
    try ConformanceJudge.clauses(of: catalogue, judging)
  }

  /// What came of some files.
  private struct Verdict: Sendable {
    var outcomes: [InputRun.Outcome] = []
    /// By file, that what was known of connections was given up; nil where it was not.
    var forgotten: [String?] = []
    var report: ConformanceReport
    /// Whether with more memory it could be another one.
    var lacksMemory: Bool
  }

  /// Judges all files.
  /// - Returns: The report, which names the files that could not be read.
  /// - Throws: ``Interrupted``.
  func judge() throws -> ConformanceReport {
    var joiner = ReportJoiner(judging, toolVersion: Reprise.version)
    try run.withProgress { progress in
      try judge(progress) { files, verdict in
        joiner.add(verdict.report)
        if let console { progress.tell { tell(verdict, of: files, console) } }
      }
    }
    return joiner.report()
  }

  private func tell(_ verdict: Verdict, of files: Range<Int>, _ console: Console) {
    for (index, (outcome, forgotten)) in zip(files, zip(verdict.outcomes, verdict.forgotten)) {
      run.tell(outcome, of: run.files[index])
      if let forgotten { console.note(run.files[index], forgotten) }
    }
  }

  /// Judges all files by as many threads as may be used, each of which has its part of the memory.
  private func judge(
    _ progress: Progress, _ take: (Range<Int>, Verdict) throws -> Void
  ) throws {
    let pieces = pieces
    let threads = min(run.options.jobs, pieces.count)
    guard threads > 1 else {
      for piece in pieces { try take(piece, judge(piece, by: 1, progress)) }
      return
    }
    let work = OrderedWork(pieces.count, threads: threads) { [self] index in
      try judge(pieces[index], by: threads, progress)
    }
    try work.run { index, verdict in
      let piece = pieces[index]
      guard verdict.lacksMemory else { return try take(piece, verdict) }
      // What it is with all of the memory is what it is on one thread.
      try take(piece, work.alone { try judge(piece, by: 1, progress) })
    }
  }

  /// What is judged together: a large file, or several small ones.
  ///
  /// A judge for each of these would take longer than they do. However many threads there are, the pieces are the same.
  private var pieces: [Range<Int>] {
    guard !run.files.isEmpty else { return [0..<0] }
    guard !run.isJoined else { return [0..<1] }
    var pieces: [Range<Int>] = []
    var size = 0
    for (index, file) in run.files.enumerated() {
      var status = stat()
      // A file with holes may call itself as large as any number.
      let next =
        stat(file, &status) == 0
        ? min(Int(clamping: status.st_size), Self.largePiece) : Self.largePiece
      if let last = pieces.last, last.count < Self.longPiece, size + next < Self.largePiece {
        pieces[pieces.count - 1] = last.lowerBound..<index + 1
        size += next
      } else {
        pieces.append(index..<index + 1)
        size = next
      }
    }
    return pieces
  }

  /// The bytes of a piece that is large enough, and the files of one that is long enough.
  private static let (largePiece, longPiece) = (1 << 20, 32)

  private func judge(
    _ files: Range<Int>, by threads: Int, _ progress: Progress
  ) throws -> Verdict {
    var (options, judging) = (run.options, judging)
    options.memory /= threads
    options.jobs = max(1, options.jobs / threads)
    judging.memory /= threads
    var consumer = Judging(judge: try newJudge(judging))
    var (outcomes, forgotten): ([InputRun.Outcome], [String?]) = ([], [])
    for index in files {
      let file = run.files[index]
      progress.begin(file)
      consumer.judge.begin(file: file)
      if options.leavesConnectionsOut { consumer.judge.note(.leftOut) }
      let outcome = try run.read(file, options, into: &consumer, progress)
      outcomes.append(outcome)
      for missing in outcome.missing { consumer.judge.note(missing) }
      consumer.judge.endFile()
      forgotten.append(ConformRun.forgotten(consumer.judge))
    }
    let isShort = outcomes.contains { $0.lacksMemory } || forgotten.contains { $0 != nil }
    let unread = zip(files, outcomes).compactMap { $1.unread(run.files[$0]) }
    return Verdict(
      outcomes: outcomes, forgotten: forgotten,
      report: consumer.judge.report(toolVersion: Reprise.version).lacking(unread)
        .joined(of: outcomes.flatMap(\.parts)),
      lacksMemory: threads > 1 && isShort)
  }

  private func newJudge(_ judging: ConformanceOptions) throws -> ConformanceJudge {
    try ConformanceJudge(catalogue: catalogue, options: judging)
  }
}

/// Hands the events of a file to the judge.
private struct Judging: EventConsumer {
  var judge: ConformanceJudge

  mutating func consume(_ event: borrowing EventView) { judge.consume(event) }
  mutating func expect(connection: Int) { judge.expect(connection: connection) }
}
