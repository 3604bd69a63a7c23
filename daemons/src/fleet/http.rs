//! Requests over HTTP/1.0, whose answers end with the connection: no chunks, nothing to keep in step.
use prismux_linux::interrupted::uninterrupted;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Bytes of the longest head of an answer.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Bytes that an answer may have before its next line, or its end.
pub(super) const MAX_BODY_BYTES: usize = 32 << 20;

/// An answer whose head has come.
#[derive(Debug)]
pub(super) struct Answer {
    /// The status code.
    pub status: u16,
    stream: TcpStream,
    /// What has come and was not taken yet.
    buffer: Vec<u8>,
}

/// Posts `body` and waits for the head of the answer, for `patience` at most.
///
/// # Errors
/// Nobody answers in time, or what comes is no HTTP.
pub(super) fn post(
    to: SocketAddr,
    path: &str,
    body: &str,
    token: Option<&str>,
    patience: Duration,
) -> io::Result<Answer> {
    let deadline = Instant::now() + patience;
    let stream = TcpStream::connect_timeout(&to, patience)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(patience))?;
    let authorization = token.map(|token| format!("Authorization: {token}\r\n")).unwrap_or_default();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {to}\r\nContent-Type: application/json\r\n{authorization}\
         Content-Length: {length}\r\n\r\n{body}"
    );
    (&stream).write_all(request.as_bytes())?;
    let mut answer = Answer { status: 0, stream, buffer: Vec::new() };
    let head = loop {
        if let Some(end) = answer.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break answer.take(end + 4);
        }
        if answer.buffer.len() > MAX_HEAD_BYTES || answer.more(deadline)? == 0 {
            return Err(nonsense());
        }
    };
    let status = std::str::from_utf8(&head).ok().and_then(|head| head.split(' ').nth(1)?.parse().ok());
    answer.status = status.filter(|_| head.starts_with(b"HTTP/1.")).ok_or_else(nonsense)?;
    Ok(answer)
}

impl Answer {
    /// All that comes until the end.
    ///
    /// # Errors
    /// The end does not come in time, or too much before it.
    pub fn rest(mut self, patience: Duration) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + patience;
        while self.more(deadline)? > 0 {}
        Ok(self.buffer)
    }

    /// The next line, without its end; `None` when none comes within `patience`.
    ///
    /// # Errors
    /// The answer has ended, or a line does not.
    pub fn line(&mut self, patience: Duration) -> io::Result<Option<Vec<u8>>> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                return Ok(Some(self.take(end + 1)));
            }
            match self.more(deadline) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(length.min(self.buffer.len()));
        std::mem::replace(&mut self.buffer, rest)
    }

    fn more(&mut self, deadline: Instant) -> io::Result<usize> {
        if self.buffer.len() > MAX_BODY_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an answer without end"));
        }
        let mut block = [0; 16 << 10];
        let length = uninterrupted(|| {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            self.stream.read(&mut block)
        })?;
        self.buffer.extend_from_slice(block.get(..length).unwrap_or_default());
        Ok(length)
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn nonsense() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what answers speaks no HTTP")
}

#[cfg(test)]
mod tests;
