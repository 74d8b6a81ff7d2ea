import Glibc
import RepriseCore
import SessionView

/// Has a model that may grow on another thread.
protocol ViewedSource {
  /// What is looked at.
  associatedtype Model: ViewedModel
  /// Whether it does not grow any more.
  var isOver: Bool { get }
  /// Calls a closure with the model as it is.
  func withModel<Result: Sendable>(_ use: (Model) -> Result) -> Result
}

/// Lets a user look at a model in the terminal, to the end.
struct ViewerRun<Source: ViewedSource> {
  private typealias Model = Source.Model

  /// How often what is still read is looked for, in milliseconds.
  private static var interval: Int32 { 100 }

  private let terminal: Terminal
  private let source: Source
  private var viewer: Viewer<Model>
  private var painter: ScreenPainter

  /// Prepares to show a model; the terminal is taken when it is shown.
  /// - Parameters:
  ///   - source: What has the model.
  ///   - terminal: The terminal.
  ///   - usesColor: Whether colours are used.
  ///   - follows: Whether the end is shown, and what comes.
  init(_ source: Source, on terminal: Terminal, usesColor: Bool, follows: Bool = false) {
    self.source = source
    self.terminal = terminal
    viewer = Viewer(terminal.size, follows: follows)
    painter = ScreenPainter(usesColor: usesColor)
  }

  /// Shows the model until the user leaves it.
  mutating func run() {
    terminal.enter()
    defer { terminal.leave() }
    while true {
      // What is over now is drawn with all that it has.
      let isLast = source.isOver
      let screen = source.withModel { model in
        viewer.refresh(model)
        return viewer.draw(model)
      }
      terminal.write(painter.paint(screen))
      switch terminal.wait(isLast ? -1 : Self.interval) {
      case .nothing: continue
      case .gone: return
      case .resized: resize()
      case .suspend:
        terminal.suspend()
        resize()
      case .keys(let keys): if take(keys) { return }
      }
    }
  }

  private mutating func resize() {
    viewer.resize(terminal.size)
    painter.forget()
  }

  /// Takes keys; returns whether the user leaves.
  private mutating func take(_ keys: [Key]) -> Bool {
    for key in keys {
      for effect in source.withModel({ viewer.take(key, $0) }) {
        switch effect {
        case .quit: return true
        case .repaint: resize()
        case .copy(let text): terminal.write(Self.clipboard(text))
        }
      }
    }
    return false
  }

  /// The sequence by which terminals take text to be pasted (OSC 52); those that don't ignore it.
  private static func clipboard(_ text: String) -> [UInt8] {
    var bytes = Array("\u{1B}]52;c;".utf8)
    bytes.append(base64: Array(text.utf8).span.bytes)
    return bytes + [0x07]
  }
}
