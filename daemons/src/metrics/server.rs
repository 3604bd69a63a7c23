//! Metrics over HTTP: one answer for each connection, at a loopback address.
use serde::Serialize;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Nobody needs longer to ask, or to read.
const PATIENCE: Duration = Duration::from_secs(2);
/// No request for metrics is longer.
const MAX_REQUEST_BYTES: usize = 8192;
/// Readers at a time; others are turned away.
const MAX_READERS: usize = 8;

/// Where metrics are read.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
    readers: Arc<AtomicUsize>,
}

impl MetricsServer {
    /// Listens at `address`.
    ///
    /// # Errors
    /// The kernel's, as when the port is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, readers: Arc::default() })
    }

    /// Answers everybody who has connected, on threads of their own: a slow reader cannot hold up packets.
    pub fn answer(&self, report: &impl Serialize) {
        while let Ok((reader, _)) = self.listener.accept() {
            if self.readers.fetch_add(1, Ordering::Relaxed) >= MAX_READERS {
                self.readers.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let readers = Arc::clone(&self.readers);
            // A page of plain names and numbers always serialises.
            let page = serde_json::to_value(report).unwrap_or_default();
            let work = move || {
                // A reader that goes away, or asks for nothing, needs no answer.
                let _ = answer(reader, &page);
                readers.fetch_sub(1, Ordering::Relaxed);
            };
            if let Err(error) = std::thread::Builder::new().name("metrics".to_owned()).spawn(work) {
                self.readers.fetch_sub(1, Ordering::Relaxed);
                tracing::warn!(%error, "could not answer a request for metrics");
            }
        }
    }
}

impl AsFd for MetricsServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

fn answer(mut reader: TcpStream, page: &serde_json::Value) -> io::Result<()> {
    reader.set_nonblocking(false)?;
    reader.set_read_timeout(Some(PATIENCE))?;
    reader.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut block = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = reader.read(&mut block)?;
        request.extend_from_slice(block.get(..length).unwrap_or_default());
        if length == 0 || request.len() > MAX_REQUEST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    let (status, body) = match request.starts_with(b"GET /metrics ") || request.starts_with(b"GET / ") {
        true => ("200 OK", super::text(page)),
        false => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
    };
    let length = body.len();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    write!(
        reader,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::MetricsServer;
    use serde_json::json;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    fn ask(server: &MetricsServer, request: &str) -> String {
        let mut stream = TcpStream::connect(server.listener.local_addr().unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let start = Instant::now();
        // The connection may take a moment to be there.
        while server.readers.load(std::sync::atomic::Ordering::Relaxed) == 0 && start.elapsed().as_secs() < 10
        {
            server.answer(&json!({ "role": "proxy", "uptime_s": 1.0 }));
            if stream.peek(&mut [0]).is_ok_and(|length| length > 0) {
                break;
            }
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn metrics_are_read_over_http_and_nothing_else_is_there() {
        let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let found = ask(&server, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let (head, body) = found.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("prismux_uptime_seconds 1\n"), "{body}");
        assert!(ask(&server, "GET /etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    }
}
