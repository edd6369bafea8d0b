// Look.cs: a list that is followed, asked in C# by the C library libbloomfilter.
//
//	mcs Look.cs && mono Look.exe users.bloom		.NET takes the same source
using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;

// The first fields of bloomfilter_status: of the others as many as you need.
public struct BloomFilterStatus
{
	public ulong Serial;
	public long TrueAt, Age;	// microseconds, UTC
	[MarshalAs(UnmanagedType.ByValTStr, SizeConst = 24)] public string Reason;
	[MarshalAs(UnmanagedType.ByValTStr, SizeConst = 264)] public string Message;
}

public sealed class WatchedBloomFilter
{
	const string Library = "libbloomfilter.so.1";
	[DllImport(Library)] static extern int bloomfilter_watched_open(byte[] path, uint flags, byte[] identity, out IntPtr watched, byte[] detail);
	[DllImport(Library)] static extern int bloomfilter_reader_open(IntPtr watched, out IntPtr reader);
	[DllImport(Library)] static extern IntPtr bloomfilter_reader_enter(IntPtr reader);
	[DllImport(Library)] static extern void bloomfilter_reader_leave(IntPtr reader);
	[DllImport(Library)] static extern int bloomfilter_contains(IntPtr filter, int type, byte[] bytes, UIntPtr length);
	[DllImport(Library)] static extern int bloomfilter_contains_int64_batch(IntPtr filter, long[] keys, UIntPtr count, byte[] found, IntPtr answered);
	[DllImport(Library)] static extern int bloomfilter_get_status(IntPtr filter, out BloomFilterStatus status, UIntPtr size);
	[DllImport(Library)] static extern IntPtr bloomfilter_strerror(int code);
	readonly IntPtr watched, reader;	// a reader is for one thread at a time: hence the lock

	public WatchedBloomFilter(string path)
	{
		var detail = new byte[520];		// bloomfilter_detail, which begins with its text
		if (bloomfilter_watched_open(Encoding.UTF8.GetBytes(path + "\0"), 0, null, out watched, detail) < 0)
			throw new IOException(Encoding.UTF8.GetString(detail).Split('\0')[0]);
		bloomfilter_reader_open(watched, out reader);
	}

	// An error says nothing of the key: it is thrown, and never a "no".
	bool Ask(Func<IntPtr, int> question)
	{
		lock (this)
		{
			var code = question(bloomfilter_reader_enter(reader));
			bloomfilter_reader_leave(reader);
			return code < 0 ? throw new IOException(Marshal.PtrToStringAnsi(bloomfilter_strerror(code))) : code == 1;
		}
	}

	public bool Contains(string key)
	{
		var bytes = Encoding.UTF8.GetBytes(key);
		return Ask(filter => bloomfilter_contains(filter, 2, bytes, (UIntPtr) bytes.Length));	// BLOOMFILTER_KEY_TEXT
	}

	public bool[] Contains(params long[] keys)
	{
		var found = new byte[keys.Length];
		Ask(filter => bloomfilter_contains_int64_batch(filter, keys, (UIntPtr) keys.Length, found, IntPtr.Zero));
		return found.Select(one => one == 1).ToArray();
	}

	public BloomFilterStatus Status()
	{
		var status = new BloomFilterStatus();
		Ask(filter => bloomfilter_get_status(filter, out status, (UIntPtr) Marshal.SizeOf(status)));
		return status;
	}

	static void Main(string[] arguments)
	{
		var filter = new WatchedBloomFilter(arguments[0]);
		for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
			Console.WriteLine(line == "status" ? $"serial {filter.Status().Serial} reason {filter.Status().Reason}"
				: line.StartsWith("text ") ? $"{filter.Contains(line.Substring(5))}"
				: string.Join(" ", filter.Contains(line.Split(' ').Select(long.Parse).ToArray())));
	}
}
