//! A web server for one reader on this machine: the page, and answers to its questions.
//!
//! It listens on 127.0.0.1 alone, answers GET alone, and only to requests that name this machine as their host, so
//! that no page from elsewhere can ask through the reader's browser (DNS rebinding).
use crate::answer::Question;
use crate::page;
use crate::run::Run;
use serde_json::json;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A run under the name that the reader gave it.
#[derive(Debug)]
pub struct Viewed {
    /// What it is called on the page.
    pub label: String,
    /// The run.
    pub run: Run,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    viewed: Arc<Vec<Viewed>>,
    page: Arc<String>,
}

/// No request of the page comes near.
const MAX_REQUEST_BYTES: u64 = 16 * 1024;
/// A browser that opens a connection beforehand and says nothing is let go after this.
const PATIENCE: Duration = Duration::from_secs(10);

impl Server {
    /// Listens on 127.0.0.1, on `port` or with 0 on any that is free.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn listen(viewed: Vec<Viewed>, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let page = Arc::new(page::document(&data(&viewed, "server", json!(null))));
        Ok(Self { listener, address, viewed: Arc::new(viewed), page })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// When the system takes the listening socket away.
    pub fn serve(&self) -> io::Result<()> {
        loop {
            let (stream, _) = self.listener.accept()?;
            let (viewed, page, address) = (Arc::clone(&self.viewed), Arc::clone(&self.page), self.address);
            // A reader who goes away while being answered is nothing to report.
            std::thread::spawn(move || drop(converse(&stream, &viewed, &page, address)));
        }
    }
}

/// What the page is told at the beginning.
pub(crate) fn data(viewed: &[Viewed], source: &str, tiles: serde_json::Value) -> String {
    let runs: Vec<_> = viewed.iter().map(|viewed| viewed.run.summary(&viewed.label)).collect();
    json!({ "source": source, "runs": runs, "tiles": tiles }).to_string()
}

/// Answers the requests of one connection, one after the other.
fn converse(stream: &TcpStream, viewed: &[Viewed], page: &str, address: SocketAddr) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some(request) = read_request(&mut reader)? else { return Ok(()) };
        let (status, kind, body) = respond(&request, viewed, page, address);
        let mut writer = stream;
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: \
                no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n",
            body.len()
        );
        writer.write_all(head.as_bytes())?;
        writer.write_all(body.as_bytes())?;
    }
}

/// What matters of a request.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    method: String,
    target: String,
    host: String,
}

/// The next request; `None` when there is no other.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut reader = reader.take(MAX_REQUEST_BYTES);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method: method.into(), target: target.into(), host: String::new() };
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("host") => request.host = value.trim().into(),
            Some(_) => {}
            None => return Ok(Some(request)),
        }
    }
}

/// Status, type and body of the answer to a request.
fn respond<'a>(
    request: &Request,
    viewed: &[Viewed],
    page: &'a str,
    address: SocketAddr,
) -> (&'static str, &'static str, std::borrow::Cow<'a, str>) {
    let ours = [address.to_string(), format!("localhost:{}", address.port())];
    if !ours.contains(&request.host) {
        return ("403 Forbidden", "text/plain", "This page is for the machine it runs on.".into());
    }
    if request.method != "GET" {
        return ("405 Method Not Allowed", "text/plain", "Only GET.".into());
    }
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    match path {
        "/" => ("200 OK", "text/html", page.into()),
        "/window" => match window(query, viewed) {
            Ok(answer) => ("200 OK", "application/json", answer.into()),
            Err(why) => ("400 Bad Request", "text/plain", why.into()),
        },
        "/packet" => match packet(query, viewed) {
            Ok(answer) => ("200 OK", "application/json", answer.into()),
            Err(why) => ("400 Bad Request", "text/plain", why.into()),
        },
        _ => ("404 Not Found", "text/plain", "There is nothing here.".into()),
    }
}

/// The numbers of a query.
#[derive(Debug, Clone, Copy)]
struct Query<'a>(&'a str);

impl Query<'_> {
    fn number(self, key: &str) -> Result<u64, String> {
        let pair = self.0.split('&').filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == key);
        let value = pair.ok_or_else(|| format!("{key} is missing"))?.1;
        value.parse::<u64>().map_err(|_| format!("{key}: \"{value}\" is no whole number"))
    }

    fn small(self, key: &str) -> Result<usize, String> {
        self.number(key).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    }

    fn run(self, viewed: &[Viewed]) -> Result<&Run, String> {
        Ok(&viewed.get(self.small("run")?).ok_or("there is no such run")?.run)
    }
}

/// The way of a packet: of that in "run=0&number=12", or of the one whose frame began nearest to an instant, in
/// "run=0&flow=0&time=1000", which may say between which nodes: "&from=1&to=2".
fn packet(query: &str, viewed: &[Viewed]) -> Result<String, String> {
    let query = Query(query);
    let run = query.run(viewed)?;
    let number = match query.number("number") {
        Ok(number) => Some(number),
        Err(_) => {
            let between = query.small("from").ok().zip(query.small("to").ok());
            run.air.nearest(query.number("time")?, query.small("flow")?, between)
        }
    };
    let way = number
        .and_then(|number| run.packets.way(number))
        .ok_or("none of this flow was on the air, or there is none with this number")?;
    serde_json::to_string(&way).map_err(|error| error.to_string())
}

/// The answer to "run=0&from=0&to=1000&width=800&height=400&flow=0".
fn window(query: &str, viewed: &[Viewed]) -> Result<String, String> {
    let query = Query(query);
    let run = query.run(viewed)?;
    let question = Question {
        from_ns: query.number("from")?,
        to_ns: query.number("to")?,
        width: query.small("width")?,
        height: query.small("height")?,
        flow: query.small("flow")?,
    };
    let answer = run.answer(question).ok_or("there is no such flow")?;
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

    fn status(request: &str) -> String {
        let request = read_request(&mut request.as_bytes()).unwrap().unwrap();
        respond(&request, &[], "the page", ADDRESS).0.to_string()
    }

    #[test]
    fn only_requests_that_name_this_machine_are_answered() {
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"), "200 OK");
        assert_eq!(status("GET / HTTP/1.1\r\nhost: localhost:8080\r\n\r\n"), "200 OK");
        assert_eq!(status("GET / HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n"), "403 Forbidden");
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "403 Forbidden");
        assert_eq!(status("POST / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"), "405 Method Not Allowed");
        assert_eq!(status("GET /etc/passwd HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"), "404 Not Found");
        assert_eq!(status("GET /window?run=7 HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"), "400 Bad Request");
    }

    #[test]
    fn a_request_without_end_is_given_up() {
        let endless = format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(100_000));
        assert!(read_request(&mut endless.as_bytes()).is_err());
        assert_eq!(read_request(&mut &b""[..]).unwrap(), None);
    }
}
