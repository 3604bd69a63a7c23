//! The terminal of somebody who watches: keys as they are typed, its size, and everything as it was afterwards.
use nix::sys::termios::{self, LocalFlags, SetArg, Termios};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// A terminal whose keys are not shown, and come without waiting for a line end. Ctrl-C is the byte 3, and ends nothing
/// by itself. The terminal is as it was once this is dropped.
#[derive(Debug)]
pub struct Keys {
    terminal: File,
    before: Termios,
}

/// The byte of Ctrl-C.
pub const INTERRUPT: u8 = 3;

impl Keys {
    /// Takes over a terminal.
    ///
    /// # Errors
    /// When `terminal` is none.
    pub fn of(terminal: impl AsFd) -> io::Result<Self> {
        let terminal = File::from(terminal.as_fd().try_clone_to_owned()?);
        let before = termios::tcgetattr(&terminal)?;
        let mut raw = before.clone();
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        termios::tcsetattr(&terminal, SetArg::TCSANOW, &raw)?;
        Ok(Self { terminal, before })
    }

    /// The keys typed so far; to be called when there are some. Nothing when the terminal has gone.
    ///
    /// # Errors
    /// The kernel's, see read(2).
    pub fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut typed = vec![0; 64];
        let length = io::Read::read(&mut self.terminal, &mut typed)?;
        typed.truncate(length);
        Ok(typed)
    }
}

impl AsFd for Keys {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing put back.
        let _ = termios::tcsetattr(&self.terminal, SetArg::TCSANOW, &self.before);
    }
}

/// Columns and lines of a terminal; `None` when it is none, or does not know.
pub fn size(terminal: impl AsFd) -> Option<(usize, usize)> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one winsize, which `size` has room for, and the descriptor is open as long as
    // `terminal` lives.
    let answer = unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &mut size) };
    (answer == 0 && size.ws_col > 0 && size.ws_row > 0)
        .then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::{Winsize, openpty};
    use std::io::Write;

    #[test]
    fn keys_come_one_by_one_and_the_terminal_is_as_it_was_afterwards() {
        let window = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&window), None).unwrap();
        assert_eq!(size(&pty.slave), Some((80, 24)));
        let before = termios::tcgetattr(&pty.slave).unwrap();
        let mut keys = Keys::of(&pty.slave).unwrap();
        let mut typist = File::from(pty.master);
        typist.write_all(&[b'q', INTERRUPT]).unwrap();
        let mut typed = keys.read().unwrap();
        while typed.len() < 2 {
            typed.extend(keys.read().unwrap());
        }
        assert_eq!(typed, [b'q', INTERRUPT]);
        drop(keys);
        assert_eq!(termios::tcgetattr(&pty.slave).unwrap(), before);
        assert!(Keys::of(File::open("/dev/null").unwrap()).is_err());
        assert_eq!(size(File::open("/dev/null").unwrap()), None);
    }
}
