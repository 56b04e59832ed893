// The coordinator's socket without nng: requests that no program of ours would send, many at once.
// SP over IPC: a hello of eight bytes from each side, then messages of a byte 1, a length of eight
// bytes, four bytes of request number with the highest bit set, and the body.
import net from "node:net";

const HELLO = Buffer.from([0, 0x53, 0x50, 0, 0, 0x30, 0, 0]);
const HEAD = 13;

export class Wire {
    /** A connection to DIR/coord.sock. */
    constructor(dir) {
        this.waiting = new Map();
        this.next = 1;
        this.bytes = Buffer.alloc(0);
        this.greeted = false;
        this.closed = false;
        this.socket = net.connect(`${dir}/coord.sock`);
        this.ready = new Promise((resolve) => (this.resolveReady = resolve));
        this.gone = new Promise((resolve) => this.socket.on("close", () => resolve(true)));
        this.socket.on("connect", () => this.socket.write(HELLO));
        this.socket.on("data", (chunk) => this.take(chunk));
        this.socket.on("error", () => {});
        this.gone.then(() => this.end());
    }

    end() {
        this.closed = true;
        this.resolveReady(false);
        this.waiting.forEach((resolve) => resolve(null));
        this.waiting.clear();
        this.socket.destroy();
    }

    take(chunk) {
        this.bytes = Buffer.concat([this.bytes, chunk]);
        if (!this.greeted && this.bytes.length >= HELLO.length) {
            this.bytes = this.bytes.subarray(HELLO.length);
            this.greeted = true;
            this.resolveReady(true);
        }
        while (this.greeted && this.bytes.length >= 9) {
            const length = Number(this.bytes.readBigUInt64BE(1));
            if (this.bytes.length < 9 + length) {
                return;
            }
            const number = this.bytes.readUInt32BE(9) & 0x7fffffff;
            const body = this.bytes.subarray(HEAD, 9 + length);
            this.bytes = this.bytes.subarray(9 + length);
            this.waiting.get(number)?.(parse(body));
            this.waiting.delete(number);
        }
    }

    /** Sends any bytes as the body of a request; its reply, null when the connection ends first. */
    async send(body) {
        if (!(await this.ready)) {
            return null;
        }
        const number = this.next++;
        const head = Buffer.alloc(HEAD);
        head[0] = 1;
        head.writeBigUInt64BE(BigInt(body.length + 4), 1);
        head.writeUInt32BE((number | 0x80000000) >>> 0, 9);
        const reply = new Promise((resolve) => this.waiting.set(number, resolve));
        this.socket.write(Buffer.concat([head, body]));
        return reply;
    }

    /** A request of the protocol. */
    ask(op, members = {}, payload = null) {
        const text = Buffer.from(JSON.stringify({ op, protocol: 1, ...members }));
        return this.send(payload ? Buffer.concat([text, Buffer.alloc(1), payload]) : text);
    }
}

function parse(body) {
    const end = body.indexOf(0);
    const reply = JSON.parse(body.subarray(0, end < 0 ? body.length : end));
    if (end >= 0) {
        reply.payload = body.subarray(end + 1);
    }
    return reply;
}
