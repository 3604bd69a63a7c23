//! A file of lines, and the thread that adds to it.
use crate::whole_file::replace_on_disk;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Lines that are added to the file before it is written anew, beside four for each of its entries.
pub(super) const MAX_ADDED_LINES: usize = 10_000;

/// A file, and the thread that writes to it.
#[derive(Debug)]
pub(crate) struct Keeper {
    file: PathBuf,
    /// What is in it.
    what: &'static str,
    pub(super) added_lines: usize,
    writing: Option<JoinHandle<io::Result<()>>>,
    /// It could not be written, and somebody has been told.
    is_lost: bool,
}

impl Keeper {
    /// Reads a file, and begins it anew with whole lines, which shows that it can be written. `read` says what is in
    /// its text, how many lines were torn, and how it is written whole.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn open<T>(
        file: PathBuf,
        what: &'static str,
        read: impl FnOnce(&str) -> (T, usize, String),
    ) -> io::Result<(T, Self)> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let bytes = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let (content, torn_lines, whole) = read(&String::from_utf8_lossy(&bytes));
        if torn_lines > 0 {
            tracing::warn!(torn_lines, file = %file.display(), "{what} have lines that were torn, and are left out");
        }
        replace_on_disk(&file, &whole)?;
        Ok((content, Self { file, what, added_lines: 0, writing: None, is_lost: false }))
    }

    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether what was added before is still being written.
    pub fn is_writing(&self) -> bool {
        self.writing.as_ref().is_some_and(|writing| !writing.is_finished())
    }

    /// Has so many lines added to a file of so many entries, or the whole written anew: not while
    /// [`Keeper::is_writing`].
    pub fn add(
        &mut self,
        (lines, entries): (usize, usize),
        added: impl FnOnce() -> String,
        whole: impl FnOnce() -> String,
    ) {
        self.finish();
        if lines == 0 {
            return;
        }
        self.added_lines += lines;
        let is_long = self.added_lines > MAX_ADDED_LINES + 4 * entries;
        let text = if is_long { whole() } else { added() };
        if is_long {
            self.added_lines = 0;
        }
        let file = self.file.clone();
        self.write(move || if is_long { replace_on_disk(&file, &text) } else { append(&file, &text) });
    }

    /// Has the whole written anew: not while [`Keeper::is_writing`].
    pub fn replace(&mut self, text: String) {
        self.finish();
        let file = self.file.clone();
        self.write(move || replace_on_disk(&file, &text));
    }

    fn write(&mut self, write: impl FnOnce() -> io::Result<()> + Send + 'static) {
        match std::thread::Builder::new().name(self.what.to_owned()).spawn(write) {
            Ok(writing) => self.writing = Some(writing),
            Err(error) => self.failed(&error),
        }
    }

    /// Waits for what is being written.
    pub fn finish(&mut self) {
        // A thread that panicked has written nothing more than one that failed.
        let written = self.writing.take().map(|writing| writing.join().unwrap_or(Ok(())));
        if let Some(Err(error)) = written {
            self.failed(&error);
        }
    }

    fn failed(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.is_lost, true) {
            tracing::warn!(file = %self.file.display(), %error, "{} cannot be written", self.what);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}

fn append(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}
