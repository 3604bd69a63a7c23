//! As much HTTP as a download needs: GET with ranges, over TCP or MPTCP.
use crate::Failed;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The servers' port.
pub(crate) const PORT: u16 = 8080;

/// Serves `bytes` to whoever asks, in the namespace of the calling thread. Clients of TCP and of MPTCP are served
/// alike. The threads end with this process.
pub(crate) fn serve(bytes: Arc<Vec<u8>>) -> Result<(), Failed> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)).into())?;
    socket.listen(64)?;
    let listener = TcpListener::from(socket);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let bytes = Arc::clone(&bytes);
            // A client that hangs up has what it wanted.
            thread::spawn(move || drop(answer(stream, &bytes)));
        }
    });
    Ok(())
}

fn answer(mut stream: TcpStream, bytes: &[u8]) -> Result<(), Failed> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut range = None;
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("range: bytes=") {
            let (first, last) = value.trim().split_once('-').ok_or("a range")?;
            let first: usize = first.parse()?;
            let last = if last.is_empty() { bytes.len() - 1 } else { last.parse()? };
            range = Some((first, last.min(bytes.len() - 1)));
        }
    }
    let (first, last) = range.unwrap_or((0, bytes.len() - 1));
    let body = bytes.get(first..=last).ok_or("a range within the file")?;
    let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes {first}-{last}/{}\r\nAccept-Ranges: bytes\r\n\
         Connection: close\r\n\r\n",
        body.len(),
        bytes.len()
    )?;
    Ok(stream.write_all(body)?)
}

/// Fetches the whole file over MPTCP.
pub(crate) fn get(server: Ipv4Addr) -> Result<Vec<u8>, Failed> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP))?;
    socket.connect(&SocketAddr::from((server, PORT)).into())?;
    let mut stream = TcpStream::from(socket);
    write!(stream, "GET /object HTTP/1.1\r\nHost: server\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let body = answer.windows(4).position(|end| end == b"\r\n\r\n").ok_or("an answer")? + 4;
    Ok(answer.split_off(body))
}
