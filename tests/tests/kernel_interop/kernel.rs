//! The kernel's side: plain sockets in threads of the same namespace.
use crate::content;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// How the kernel's application behaves: writes and reads at the same time, checks every byte, ends with FIN.
fn transfer(stream: TcpStream, to_write: u64, to_read: u64) {
    let mut writing = stream.try_clone().expect("clone a socket");
    let writer = thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        let mut position = 0;
        while position < to_write {
            let count = buffer.len().min((to_write - position) as usize);
            content::fill(position, &mut buffer[..count]);
            writing.write_all(&buffer[..count]).expect("write to the kernel's socket");
            position += count as u64;
        }
        writing.shutdown(Shutdown::Write).expect("shut down");
    });
    let mut reading = stream;
    let mut buffer = vec![0; 1 << 16];
    let mut position = 0;
    loop {
        let count = reading.read(&mut buffer).expect("read from the kernel's socket");
        if count == 0 {
            break;
        }
        content::check(position, &buffer[..count]);
        position += count as u64;
    }
    assert_eq!(position, to_read, "the kernel received as many bytes as we sent");
    writer.join().expect("the writing half");
}

/// Accepts one connection on `address`.
pub fn serve(address: SocketAddr, to_write: u64, to_read: u64) -> JoinHandle<()> {
    let listener = TcpListener::bind(address).expect("listen");
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("accept");
        transfer(stream, to_write, to_read);
    })
}

/// Connects to `address`.
pub fn connect(address: SocketAddr, to_write: u64, to_read: u64) -> JoinHandle<()> {
    thread::spawn(move || {
        let stream = TcpStream::connect(address).expect("connect");
        transfer(stream, to_write, to_read);
    })
}
