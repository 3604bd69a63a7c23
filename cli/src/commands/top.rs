//! `prismux top`: what running daemons do, drawn anew each second.
mod frame;

use super::status::pages;
use crate::args::TopArguments;
use crate::failure::Failure;
use crate::output::print;
use frame::{Seen, Style, frame, text};
use prismux_daemons::figures::{Sample, Sampler};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{EventLoop, StopHandle, Token, Wake, block_stop_signals};
use prismux_linux::terminal::{self, INTERRUPT, Keys};
use prismux_units::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Time between two frames.
const INTERVAL: Duration = Duration::from_secs(1);
/// Samples kept of each daemon, for the small lines.
const MAX_SAMPLES: usize = 60;
/// Columns and lines where the terminal does not say.
const USUAL_SIZE: (usize, usize) = (80, 24);
/// Lines of a frame that nobody has to fit on a screen.
const MAX_LINES: usize = 200;
const KEYS: Token = 0;

pub(crate) fn run(arguments: &TopArguments) -> Result<(), Failure> {
    let clock = Clock::start();
    let mut watched = Watched { clock, daemons: BTreeMap::new() };
    let socket = arguments.socket.as_deref();
    let mut seen = watched.look(socket)?;
    if arguments.once || !io::stdout().is_terminal() {
        // Rates are differences: two looks.
        std::thread::sleep(std::time::Duration::from_millis(500));
        seen = watched.look(socket)?;
        let (width, _) = terminal::size(io::stdout()).unwrap_or(USUAL_SIZE);
        return Ok(print(text(&frame(&seen, None, (width, MAX_LINES)), Style::Plain))?);
    }
    watch(&mut watched, socket, seen)
}

/// Draws until somebody types q or Ctrl-C, or asks the process to end.
fn watch(watched: &mut Watched, socket: Option<&Path>, mut seen: Vec<Seen>) -> Result<(), Failure> {
    block_stop_signals()?;
    let mut event_loop = EventLoop::new(watched.clock, StopHandle::new()?)?;
    event_loop.stop_on_signals()?;
    let mut keys = Keys::of(io::stdin()).map_err(|error| {
        Failure::failed(format!("the standard input is no terminal ({error}): try --once"))
    })?;
    event_loop.watch(&keys, KEYS)?;
    let mut screen = Screen::enter()?;
    let style = if std::env::var_os("NO_COLOR").is_some() { Style::Plain } else { Style::Coloured };
    let (mut ready, mut trouble) = (Vec::new(), None);
    loop {
        let size = terminal::size(io::stdout()).unwrap_or(USUAL_SIZE);
        screen.draw(&text(&frame(&seen, trouble.as_deref(), size), style))?;
        let next = watched.clock.now() + INTERVAL;
        while watched.clock.now() < next {
            if event_loop.wait(Some(next), &mut ready)? == Wake::Stop {
                return Ok(());
            }
            if ready.contains(&KEYS) {
                let typed = keys.read()?;
                // Nothing to read: the terminal has gone.
                if typed.is_empty() || typed.iter().any(|key| [b'q', b'Q', INTERRUPT].contains(key)) {
                    return Ok(());
                }
            }
        }
        match watched.look(socket) {
            Ok(new) => (seen, trouble) = (new, None),
            Err(Failure::Failed(why) | Failure::Usage(why)) => trouble = Some(why),
            Err(other) => return Err(other),
        }
    }
}

/// Daemons, and what their links have carried lately.
struct Watched {
    clock: Clock,
    daemons: BTreeMap<PathBuf, (Sampler, VecDeque<Sample>)>,
}

impl Watched {
    /// Asks the daemons once more.
    fn look(&mut self, socket: Option<&Path>) -> Result<Vec<Seen>, Failure> {
        let mut seen = Vec::new();
        for (socket, status) in pages(socket)? {
            let (sampler, samples) = self.daemons.entry(socket).or_default();
            if samples.len() >= MAX_SAMPLES {
                samples.pop_front();
            }
            samples.push_back(sampler.sample(self.clock.now(), &status));
            seen.push(Seen { status, samples: samples.iter().cloned().collect() });
        }
        Ok(seen)
    }
}

/// A second screen of the terminal; what was on it before comes back when this is dropped.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Self> {
        write("\x1b[?1049h\x1b[?25l")?;
        Ok(Self)
    }

    /// Shows `text` in place of what was there, without a flicker.
    fn draw(&mut self, text: &str) -> io::Result<()> {
        write(&format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\r\n")))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing put back.
        let _ = write("\x1b[?25h\x1b[?1049l");
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
