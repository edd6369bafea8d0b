// Asks by libpqxx: texts as texts, bytes in binary; "keys.py" says what.
#include <iostream>
#include <pqxx/pqxx>
#include <sstream>
#include <string>
#include <vector>

static std::string ask(pqxx::connection &connection, const std::string &sql, const pqxx::field &key, bool bytes)
{
	pqxx::nontransaction work(connection);

	try
	{
		pqxx::result r = bytes ? work.exec_params(sql, pqxx::binarystring(key)) : work.exec_params(sql, key.c_str());
		return r[0][0].as<bool>() ? "true" : "false";
	}
	catch (const pqxx::sql_error &error)
	{
		return error.sqlstate();
	}
}

int main()
{
	pqxx::connection connection("");
	pqxx::result keys;
	std::string line, kind, way, sql;

	while (std::getline(std::cin, line))
	{
		std::istringstream parts(line);
		std::getline(std::getline(std::getline(parts, kind, '\t'), way, '\t'), sql);
		if (way == "read")
		{
			keys = pqxx::nontransaction(connection).exec(sql);
			continue;
		}
		for (bool bytes : {false, true})
		{
			if (bytes && kind != "bytea")
				continue;
			std::cout << (bytes ? "libpqxx binary\t" : "libpqxx\t") << kind << '\t' << way;
			for (const auto &row : keys)
				std::cout << '\t' << ask(connection, sql, row[0], bytes);
			std::cout << std::endl;
		}
	}
}
